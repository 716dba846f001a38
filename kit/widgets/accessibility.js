// What widgets need from their page, and ipywidgets does not provide: shortcuts instead of those of
// the notebook, accessible names, announcements of changes, focus management, and clicks that arrive
// after typed text. Nothing outside of the widget is changed.
const FIELD_PARTS = "input:not([hidden]), select, textarea, .noUi-handle, .widget-readout, [role$=group]";

// A note has the description of the field before it, and its problem.
function describe(note) {
  const cell = note.previousElementSibling;
  const label = cell.querySelector(".widget-label")?.textContent ?? null;
  note.id ||= `kit-${Math.random()}`; // other widgets in the page have notes, too
  for (const part of cell.querySelectorAll(FIELD_PARTS)) {
    if (!part.labels?.[0]?.textContent) part.ariaLabel ||= label;
    part.setAttribute("aria-describedby", note.id);
    if (part.matches("input, textarea")) part.dir = "auto"; // direction of the typed text
    part.ariaInvalid = cell.matches(".kit-invalid") || null;
  }
}

function labelParts(root) {
  const all = (what) => root.querySelectorAll(what);
  const field = ":has(> .widget-label)";
  const label = (part) => textOf(part.closest(field)?.querySelector(".widget-label"));
  for (const part of all(".noUi-handle, .widget-readout")) part.ariaLabel = label(part);
  for (const part of all(".widget-readout[contenteditable]")) part.role = "textbox";
  for (const box of all(".widget-radio-box, .widget-toggle-buttons > div")) {
    box.role = box.matches(".widget-radio-box") ? "radiogroup" : "group";
    box.ariaLabel = label(box);
  }
  for (const part of all(".widget-toggle-button")) part.ariaPressed = part.matches(".mod-active");
  for (const icon of all("button > i")) icon.ariaHidden = true; // otherwise read by screen readers
  for (const button of all(".kit-earlier, button[title]:not(.kit-form *)"))
    if (!textOf(button)) button.ariaLabel = button.title;
  all(".kit-field-note").forEach(describe);
  for (const box of all(NOTIFY)) box.checked = mayNotify();
  for (const part of all(".kit-opens")) part.ariaExpanded = part.matches(".kit-is-open");
  for (const part of all("label[title=null]")) part.title = ""; // of a widget without a tooltip
  // The content of such a widget is replaced as a whole; its container stays.
  for (const part of all(".kit-status > .widget-html-content")) part.ariaLive = "polite";
  if (root.matches(FORMS)) {
    root.role = "group";
    root.ariaLabel = textOf(root.querySelector("b")); // its heading
  }
  const tabs = all(".kit-tabs [role=tab]");
  all(".kit-tabs .kit-page").forEach((page, index) => {
    page.role = "tabpanel";
    page.ariaLabel = textOf(tabs[index]);
  });
}

// The browser stores whether to notify about finished runs, and asks for permission once.
const NOTIFY = ".kit-notify input";
const mayNotify = () => localStorage["kit-notify"] === "1" && window.Notification?.permission === "granted";

// A number typed into a slider's box is used when the box loses the focus, and is sent to the kernel,
// because the page adjusts it silently. A file dragged over a form opens a drop zone.
const FORMS = ".kit-form, .kit-writing";

function handleForm(model, form, signal) {
  let edited;
  const useNumber = ({ target, type, key }) => {
    if (target !== edited || (type === "keydown" && key !== "Enter")) return;
    if (target.closest(FORMS) !== form) return; // an inner form handles it
    edited = null;
    const notes = [...form.querySelectorAll(".kit-field-note")];
    const field = notes.findIndex((note) => note.previousElementSibling.contains(target));
    const text = target.textContent.replace("−", "-"); // ipywidgets writes this sign, but does not parse it
    target.textContent = text;
    target.dispatchEvent(new Event("blur", { bubbles: true })); // a real blur event does not reach it
    setTimeout(() => model.send({ field, text, used: target.textContent }));
  };
  const onDrag = (event) => {
    if (!event.dataTransfer?.types.includes("Files") || event.target.closest(".kit-drop")) return;
    event.preventDefault(); // otherwise the page would open the file
    if (event.type === "dragenter" && !form.contains(event.relatedTarget)) model.send({ dragged: true });
  };
  const onNotifyChange = async ({ target }) => {
    if (!target.matches(NOTIFY)) return;
    localStorage["kit-notify"] = target.checked ? "1" : "0";
    if (target.checked) await window.Notification?.requestPermission();
    target.checked = mayNotify();
  };
  const on = (handler, ...kinds) =>
    kinds.forEach((kind) => form.addEventListener(kind, handler, { capture: true, signal }));
  on(({ target }) => target.matches(".widget-readout") && (edited = target), "input");
  on(useNumber, "keydown", "blur");
  on(onDrag, "dragenter", "dragover", "drop");
  on(onNotifyChange, "change");
}

// What the kernel says, for screen readers; the end of a run also as a notification.
function announceMessages(model, root, signal) {
  const status = document.createElement("span");
  Object.assign(status, { role: "status", className: "kit-screen-reader" });
  root.append(status);
  const announce = ({ say, notify }) => {
    if (!say) return;
    status.textContent = say;
    if (notify && document.hidden && mayNotify()) new Notification(say);
  };
  model.on("msg:custom", announce);
  signal.addEventListener("abort", () => (model.off("msg:custom", announce), status.remove()));
}

function render({ model, el }) {
  const stop = new AbortController();
  const { signal } = stop;
  let root, timer;
  const end = disableWhenGone(model, el, signal, () => root);
  const update = () => {
    timer = 0;
    labelParts(root);
    if (root.matches(".jupyter-widgets-disconnected")) end();
  };
  const watcher = new MutationObserver(() => (timer ||= setTimeout(update, 50)));
  const begin = () => {
    root = el.parentElement;
    if (!root?.isConnected) return (timer = setTimeout(begin, 50)); // not in the page yet
    keepShortcuts(root, signal);
    keepFocus(root, signal);
    orderClicks(model, root, signal);
    pollWhileVisible(model, root, signal);
    announceMessages(model, root, signal);
    if (root.matches(FORMS)) handleForm(model, root, signal);
    watcher.observe(root, { attributeFilter: ["class"], childList: true, subtree: true });
    update();
  };
  begin();
  return () => (stop.abort(), clearTimeout(timer), watcher.disconnect());
}

export default { render };
