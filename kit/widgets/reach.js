// What a widget of buttons and fields needs of its page, and ipywidgets does not give it: keys that
// the notebook leaves to it, names for what has none, a voice for what changes, a place for the
// focus, and clicks that come after what was typed. Nothing outside of the widget is touched.
function set(part, name, value) {
  if (value && part.getAttribute(name) !== value) part.setAttribute(name, value);
}

function dress(root) {
  const all = (what) => root.querySelectorAll(what);
  const field = ":has(> .widget-label)";
  const label = (part) => words(part.closest(field)?.querySelector(".widget-label"));
  for (const part of all(".noUi-handle, .widget-readout")) set(part, "aria-label", label(part));
  for (const part of all(".widget-readout[contenteditable]")) set(part, "role", "textbox");
  for (const box of all(".widget-radio-box, .widget-toggle-buttons > div")) {
    set(box, "role", box.matches(".widget-radio-box") ? "radiogroup" : "group");
    set(box, "aria-label", label(box));
  }
  for (const part of all(".widget-toggle-button"))
    set(part, "aria-pressed", String(part.matches(".mod-active")));
  for (const icon of all("button > i")) {
    set(icon, "aria-hidden", "true");
    if (!words(icon.parentElement)) set(icon.parentElement, "aria-label", icon.parentElement.title);
  }
  // The text of such a widget is replaced as a whole; what stays is around it.
  for (const part of all(".kit-status > .widget-html-content")) set(part, "aria-live", "polite");
  const tabs = all(".kit-tabs [role=tab]");
  all(".kit-tabs .kit-page").forEach((page, index) => {
    set(page, "role", "tabpanel");
    set(page, "aria-label", words(tabs[index]));
  });
}

function render({ model, el }) {
  const stop = new AbortController();
  let root, timer;
  const look = () => ((timer = 0), dress(root));
  const end = restWhenGone(model, el, stop.signal, () => root);
  const watcher = new MutationObserver(() => {
    if (root.matches(".jupyter-widgets-disconnected")) end();
    timer ||= setTimeout(look, 100);
  });
  const begin = () => {
    root = el.parentElement;
    if (!root?.isConnected) return (timer = setTimeout(begin, 50)); // not in the page yet
    ownKeys(root, stop.signal);
    keepFocus(root, stop.signal);
    inTurn(model, root, stop.signal);
    lookAround(model, root, stop.signal);
    watcher.observe(root, { attributeFilter: ["class"], childList: true, subtree: true });
    look();
  };
  begin();
  return () => (stop.abort(), clearTimeout(timer), watcher.disconnect());
}

export default { render };
