// What ipywidgets leaves nameless is named after its field, and the form has its keys to itself.
// What was typed into a slider counts when its box is left, and is told to the kernel: the page
// makes it fit without a word. Where the kernel behind it is gone, the form says so and rests.
// Nothing outside of the form is touched.
const PARTS = "input:not([hidden]), select, textarea, .noUi-handle, .widget-readout, [role=group]";

function dress(cell, note) {
  const all = (what) => cell.querySelectorAll(what);
  const label = all(".widget-label")[0]?.textContent ?? null;
  note.id ||= `kit-${Math.random()}`; // other forms of the page have notes, too
  for (const group of all(":has(> .widget-toggle-button)")) group.role = "group";
  for (const button of all(".widget-toggle-button"))
    button.ariaPressed = button.matches(".mod-active");
  for (const readout of all(".widget-readout")) readout.role = "textbox";
  for (const part of all(PARTS)) {
    if (!part.labels?.[0]?.textContent) part.ariaLabel ||= label;
    part.setAttribute("aria-describedby", note.id);
    if (part.matches("input, textarea")) part.dir = "auto"; // by what is written there
    part.ariaInvalid = cell.matches(".kit-invalid") || null;
  }
}

// The browser remembers that ends are to be told, and asks for its permission once.
const TELL = ".kit-notify input";
const told = () => localStorage["kit-notify"] === "1" && window.Notification?.permission === "granted";

function notify(model, form, signal) {
  const heard = ({ ended }) => ended && document.hidden && told() && new Notification(ended);
  const choose = async ({ target }) => {
    if (!target.matches(TELL)) return;
    localStorage["kit-notify"] = target.checked ? "1" : "0";
    if (target.checked) await window.Notification?.requestPermission();
    target.checked = told();
  };
  form.addEventListener("change", choose, { signal });
  model.on("msg:custom", heard);
  signal.addEventListener("abort", () => model.off("msg:custom", heard));
}

function render({ model, el }) {
  const stop = new AbortController();
  let form, timer, edited;
  const cellsOf = () => [...form.querySelectorAll(".kit-fields > *")];
  const look = () => {
    timer = 0;
    const cells = cellsOf();
    for (let at = 1; at < cells.length; at += 2) dress(cells[at - 1], cells[at]);
    for (const icon of form.querySelectorAll("button > i")) icon.ariaHidden = true; // else spelled
    for (const picture of form.querySelectorAll(".kit-earlier")) picture.ariaLabel = picture.title;
    for (const box of form.querySelectorAll(TELL)) box.checked = told();
    for (const more of form.querySelectorAll(".kit-more"))
      more.ariaExpanded = !more.nextElementSibling.matches(".kit-hidden");
  };
  const settle = ({ target, type, key }) => {
    if (target !== edited || (type === "keydown" && key !== "Enter")) return;
    edited = null;
    const field = cellsOf().findIndex((cell) => cell.contains(target)) / 2;
    const text = target.textContent.replace("−", "-"); // it is written like this, but not read
    target.textContent = text;
    target.dispatchEvent(new Event("blur", { bubbles: true })); // a real one does not reach it
    setTimeout(() => model.send({ field, text, used: target.textContent }));
  };
  const drag = (event) => {
    if (!event.dataTransfer?.types.includes("Files") || event.target.closest(".kit-drop")) return;
    event.preventDefault(); // else the page would leave for the file
    if (event.type === "dragenter" && !form.contains(event.relatedTarget)) model.send({ dragged: true });
  };
  const end = restWhenGone(model, el, stop.signal, () => form);
  const watcher = new MutationObserver(() => {
    if (form.matches(".jupyter-widgets-disconnected")) end();
    timer ||= setTimeout(look, 50);
  });
  const begin = () => {
    form = el.closest(".kit-form");
    if (!form?.querySelector(".kit-submit")) return (timer = setTimeout(begin, 50)); // the form is still being put together
    const when = { capture: true, signal: stop.signal };
    const on = (kind, heard) => form.addEventListener(kind, heard, when);
    ownKeys(form, stop.signal, ".kit-submit");
    keepFocus(form, stop.signal);
    notify(model, form, stop.signal);
    inTurn(model, form, stop.signal);
    lookAround(model, form, stop.signal);
    on("input", ({ target }) => target.matches(".widget-readout") && (edited = target));
    for (const kind of ["keydown", "blur"]) on(kind, settle);
    for (const kind of ["dragenter", "dragover", "drop"]) on(kind, drag);
    watcher.observe(form, { attributeFilter: ["class"], childList: true, subtree: true });
    look();
  };
  begin();
  return () => (stop.abort(), clearTimeout(timer), watcher.disconnect());
}

export default { render };
