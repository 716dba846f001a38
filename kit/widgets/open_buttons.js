// Adds a button to each result in the static HTML above this widget. A click shows the result's
// actions here; another click removes them.
const STYLE = "width:auto;height:24px;line-height:24px;margin:2px 0;padding:0 9px;font-size:12px;border-radius:4px";
const TITLE = "Enlarge, download, open in a form, or use as an input";

function render({ model, el }) {
  const stop = new AbortController();
  const buttons = [];
  let timer;
  const container = () => el.parentElement;
  const observer = new MutationObserver(() => {
    if (!container()?.querySelector(".kit-result")) return;
    observer.disconnect();
    container().scrollIntoView({ block: "nearest" });
  });
  const add = (place) => {
    const traits = { type: "button", title: TITLE, className: "jupyter-button", ariaExpanded: "false" };
    const button = makeElement("button", traits, "Open");
    button.style.cssText = STYLE;
    button.ariaLabel = `Open #${place.dataset.kitResult}`;
    button.onclick = () => {
      const opens = button.ariaExpanded === "false";
      for (const one of buttons) one.ariaExpanded = String(one === button && opens);
      model.send({ open: opens ? Number(place.dataset.kitResult) : null });
      if (opens) observer.observe(container(), { childList: true, subtree: true });
    };
    buttons.push(button);
    place.replaceChildren(button);
  };
  const begin = () => {
    // The same results may be shown twice: use those directly above.
    const all = [...document.querySelectorAll(`.${model.get("place")}`)];
    const above = (part) => part.compareDocumentPosition(el) & Node.DOCUMENT_POSITION_FOLLOWING;
    const root = el.isConnected && all.filter(above).at(-1);
    if (!root) return (timer = setTimeout(begin, 100)); // not in the page yet
    if (el.closest(".jupyter-widgets-disconnected")) return; // saved in the notebook, without its kernel
    root.querySelectorAll("[data-kit-result]").forEach(add);
  };
  const end = () => (clearTimeout(timer), observer.disconnect(), buttons.forEach((one) => one.remove()));
  onKernelGone(model, stop.signal, end);
  begin();
  return () => (stop.abort(), end());
}

export default { render };
