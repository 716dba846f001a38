// What a widget of buttons and fields needs of its page, and ipywidgets does not give it: keys that
// the notebook leaves to it, names for what has none, a voice for what changes, and a place for the
// focus when what had it goes away. Nothing outside of the widget is touched.
const STOPS = "button, input, select, textarea, summary, [tabindex='0']:not([role=tab])";
const TAB = "[role=tab][aria-selected=true]";

const seen = (part) => part.isConnected && part.checkVisibility({ visibilityProperty: true });
const words = (part) => part?.textContent.trim() ?? "";

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
  for (const part of all(".kit-said > .widget-html-content")) set(part, "aria-live", "polite");
  const tabs = all(".kit-tabs [role=tab]");
  all(".kit-tabs .kit-page").forEach((page, index) => {
    set(page, "role", "tabpanel");
    set(page, "aria-label", words(tabs[index]));
  });
}

function render({ el }) {
  const stop = new AbortController();
  let root, timer, last, around = [];
  const look = () => {
    timer = 0;
    dress(root);
    if (!last || document.activeElement !== document.body) return;
    if (seen(last)) return last.disabled || last.focus(); // what only rests gets it back
    const page = last.closest(".kit-page");
    const at = around.indexOf(last);
    const near = [...around.slice(at + 1), ...around.slice(0, at).reverse()];
    const free = near.find((part) => seen(part) && !part.disabled);
    (page?.isConnected && !seen(page) ? root.querySelector(TAB) : free)?.focus();
  };
  const forget = (part) => part !== document.activeElement && (last = null);
  const later = () => (timer ||= setTimeout(look, 100));
  const watcher = new MutationObserver(later);
  const begin = () => {
    root = el.parentElement;
    if (!root?.isConnected) return (timer = setTimeout(begin, 50)); // not in the page yet
    const early = { capture: true, signal: stop.signal };
    const on = (at, kind, hear) => at.addEventListener(kind, hear, early);
    ownKeys(root, stop.signal);
    on(root, "focusin", ({ target }) => {
      last = target;
      around = [...root.querySelectorAll(STOPS)];
    });
    // Whoever leaves a part that stays wants to be elsewhere; one that goes is there until now.
    on(root, "focusout", ({ target }) =>
      setTimeout(() => target === last && seen(target) && !target.disabled && forget(target)),
    );
    watcher.observe(root, {
      attributeFilter: ["class", "disabled", "style"],
      childList: true,
      subtree: true,
    });
    timer = 0;
    look();
  };
  begin();
  return () => (stop.abort(), clearTimeout(timer), watcher.disconnect());
}

export default { render };
