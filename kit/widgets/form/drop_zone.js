// Sends a file to the kernel in pieces: a websocket message has at most ten megabytes. Responses say
// which piece is next, so lost ones are requested again.
const PIECE = 4 * 1024 * 1024;
const RETRY_AFTER = 3000; // ms without a response, until the kernel is asked again
const MAX_RETRIES = 40; // times

const KERNEL_GONE = "The kernel was restarted: run the cell, then choose the file again.";
const NO_ANSWER = "The kernel does not answer: try again when it is idle.";

let store = {};
try {
  store = sessionStorage;
} catch {} // the page has no session storage
const megabytes = (count) => (count / 1e6).toFixed(1);

function openUpload(model, el, waiting) {
  const id = String(Math.random());
  let sent = 0;
  let ended = false;
  let resolveReply = () => {};
  const receive = (m) => m.id === id && m.n === sent && resolveReply(m);
  const send = (message, piece) => {
    sent += 1;
    try {
      model.send({ ...message, id, n: sent }, undefined, piece ? [piece] : []);
    } catch {} // there is no kernel, and thus no response
  };
  const nextReply = () =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, RETRY_AFTER);
      resolveReply = (m) => (clearTimeout(timer), resolve(m));
    });
  model.on("msg:custom", receive);
  return {
    async ask(message, piece) {
      send(message, piece);
      for (let retries = 0; retries < MAX_RETRIES; retries += 1) {
        const reply = ended ? { no: "Canceled." } : await nextReply();
        if (reply?.no) throw Error(reply.no);
        if (reply && !reply.wait) return reply;
        if (el.closest(".jupyter-widgets-disconnected")) throw Error(KERNEL_GONE);
        waiting();
        if (reply) retries = 0;
        else send({ do: "where" });
      }
      throw Error(NO_ANSWER);
    },
    end() {
      ended = true;
      resolveReply({ no: "Canceled." });
    },
    close() {
      send({ do: "stop" });
      model.off("msg:custom", receive);
    },
  };
}

async function sendFiles(files, upload, show) {
  const offers = files.map(({ name, type, size }) => ({ name, type, size }));
  let next = await upload.ask({ do: "offer", files: offers });
  while (!next.done) {
    const { file, at } = next;
    show(file, at);
    let piece;
    try {
      piece = await files[file].slice(at, at + PIECE).arrayBuffer();
    } catch {
      throw Error(`${files[file].name} cannot be read: it is a folder, or has changed.`);
    }
    next = await upload.ask({ do: "piece", file, at }, piece);
  }
}

function render({ model, el }) {
  const key = `kit-drop-${model.get("key")}`;
  const title = model.get("label");
  const several = model.get("several");
  let upload = null;

  const input = makeElement("input", { type: "file", multiple: several, accept: model.get("accept") });
  const choose = makeElement("button", {
    className: "jupyter-button",
    textContent: several ? "Choose files" : "Choose a file",
  });
  const cancel = makeElement("button", { className: "jupyter-button", textContent: "Cancel" });
  const hint = makeElement("small", { className: "kit-note", textContent: model.get("hint") });
  const idle = makeElement("div", {}, makeElement("span", { textContent: model.get("call") }), choose, hint);
  const bar = makeElement("progress", { max: 1 });
  const count = makeElement("span", {});
  const busy = makeElement("div", { hidden: true }, bar, count, cancel);
  const status = makeElement("p", { hidden: true });
  input.hidden = true;
  choose.ariaLabel = `${choose.textContent} to upload: ${title}`;
  cancel.ariaLabel = `Cancel the upload: ${title}`;
  for (const part of [bar, el]) part.ariaLabel = `Upload: ${title}`;
  el.role = "group";
  el.append(input, idle, busy, status);

  const setStatus = (text, kind = "wait") => {
    status.className = kind === "bad" ? "kit-bad" : `kit-note kit-drop-${kind}`;
    status.setAttribute("role", kind === "bad" ? "alert" : "status");
    status.textContent = text;
    status.hidden = !text;
  };

  const uploadFiles = async (list) => {
    const files = [...list];
    input.value = ""; // so that the same file can be chosen again
    if (!files.length) return;
    if (upload) return setStatus("One upload at a time.", "bad");
    const show = (file, at) => {
      const { name, size } = files[file];
      const nth = files.length > 1 ? `${file + 1} of ${files.length}: ` : "";
      bar.value = at / (size || 1);
      const share = Math.floor(100 * bar.value);
      count.textContent = `${nth}${name} · ${megabytes(at)} of ${megabytes(size)} MB · ${share} %`;
      setStatus("");
    };
    const setBusy = (yes) => {
      const focused = el.contains(document.activeElement);
      idle.hidden = yes;
      busy.hidden = !yes;
      if (focused) (yes ? cancel : choose).focus();
    };
    upload = openUpload(model, el, () => setStatus("Waiting for the kernel …"));
    store[key] = `${performance.timeOrigin} ${files[0].name}`;
    setBusy(true);
    try {
      show(0, 0);
      await sendFiles(files, upload, show);
      setStatus(`Arrived: ${files.map((file) => file.name).join(", ")}`, "done");
    } catch (problem) {
      setStatus(problem.message, "bad");
    } finally {
      upload.close();
      upload = null;
      delete store[key];
      setBusy(false);
    }
  };

  const onDrag = (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    event.stopPropagation();
    el.classList.toggle("kit-drop-over", event.type === "dragover");
    if (event.type === "drop") uploadFiles(event.dataTransfer.files);
  };
  for (const kind of ["dragover", "dragleave", "drop"]) el.addEventListener(kind, onDrag);
  const stop = new AbortController();
  const onFormDrag = (event) => {
    const { target } = event;
    if (target.closest?.(".kit-drop") || target.closest?.(".kit-form") !== el.closest(".kit-form")) return;
    onDrag(event);
  };
  if (model.get("whole"))
    for (const kind of ["dragover", "dragleave", "drop"])
      window.addEventListener(kind, onFormDrag, { signal: stop.signal });
  choose.onclick = () => input.click();
  input.onchange = () => uploadFiles(input.files);
  cancel.onclick = () => upload?.end();

  const [origin, ...lost] = (store[key] ?? "").split(" ");
  if (lost.length && origin !== String(performance.timeOrigin)) {
    setStatus(`The page was reloaded, and ${lost.join(" ")} did not arrive: choose it again.`, "bad");
    delete store[key];
  }
  return () => (stop.abort(), upload?.end());
}

export default { render };
