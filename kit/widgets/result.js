// A file sent by the kernel: saved by the browser, or shown as large as the window, and in full size
// after a click. It works in every host, because no server is used.

function enlarge(address, title, type) {
  const video = type.startsWith("video/");
  const picture = video
    ? makeElement("video", { src: address, title, controls: true, autoplay: true })
    : makeElement("img", { src: address, alt: title });
  const button = (textContent) => makeElement("button", { type: "button", textContent, className: "jupyter-button" });
  const [size, close] = [button(""), button("Close")];
  const bar = makeElement("div", {}, ...(video ? [] : [size]), close);
  const dialog = makeElement("dialog", { ariaLabel: title }, bar, picture);
  const setSize = (fitted) => {
    const limits = fitted ? "max-width:94vw;max-height:86vh" : "max-width:none";
    picture.style.cssText = `display:block;${limits};cursor:${video ? "auto" : fitted ? "zoom-in" : "zoom-out"}`;
    size.textContent = fitted ? "Full size" : "Fit to window";
  };
  let fitted = true;
  dialog.dataset.lmSuppressShortcuts = "true";
  dialog.style.cssText =
    "padding:10px;border:0;border-radius:8px;max-width:98vw;max-height:98vh;overflow:auto;" +
    "background:var(--jp-layout-color1,#fff);color:var(--jp-ui-font-color1,#000)";
  bar.style.cssText = "width:fit-content;margin:0 0 8px auto;position:sticky;right:0";
  close.autofocus = true;
  setSize(fitted);
  if (!video) picture.onclick = size.onclick = () => setSize((fitted = !fitted));
  close.onclick = () => dialog.close();
  dialog.onclick = ({ target }) => target === dialog && dialog.close();
  dialog.onclose = () => (dialog.remove(), URL.revokeObjectURL(address));
  document.body.append(dialog);
  dialog.showModal();
}

function save(address, name) {
  makeElement("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

function render({ model }) {
  const receive = ({ action, name, type, title }, buffers) => {
    const address = URL.createObjectURL(new Blob(buffers, { type }));
    if (action === "enlarge") enlarge(address, title, type);
    else save(address, name);
  };
  model.on("msg:custom", receive);
  return () => model.off("msg:custom", receive);
}

export default { render };
