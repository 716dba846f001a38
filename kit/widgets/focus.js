// Moves the focus when the focused element is disabled, hidden or redrawn. A slow page reports that
// late and in any order, so it is checked after each change; a focus moved by the user is kept. Of
// nested boxes the outermost one is responsible.
const STOPS = "button, input, select, textarea, summary, [tabindex='0']:not([role=tab])";
const TAB = "[role=tab][aria-selected=true]";
const KEPT = "data-kit-focus";

const seen = (part) => part.isConnected && part.checkVisibility({ visibilityProperty: true });
const free = (part) => seen(part) && !part.disabled;
const words = (part) => part?.textContent.trim() ?? "";
// The browser's own `labels` searches the whole page, which is too slow for a long table.
const caption = (part) =>
  part.closest("label") ?? part.closest(".jupyter-widgets")?.querySelector(":scope > label");
const known = (part) => {
  const said = part.title || (part.matches("button") ? words(part) : part.placeholder);
  return [part.ariaLabel, words(caption(part)), said].join("|");
};

// Typing continues in a redrawn field, at the same position.
function goOn(before, part) {
  const { value, selectionStart: from, selectionEnd: to } = before;
  if (part.value !== value) {
    part.value = value;
    part.dispatchEvent(new Event("input", { bubbles: true }));
  }
  if (from !== null) part.setSelectionRange?.(from, to);
}

function keepFocus(root, signal) {
  let last, like, count, place, timer, home;
  let around = [];
  let typed = false;
  const give = (part) => part.focus({ preventScroll: true }); // the user may be looking at another part
  const kind = ({ tagName, type }) => `${tagName} ${type}`; // cheap, for a thousand elements
  const is = (part) => kind(part) === kind(last) && known(part) === like;
  const remember = () => {
    around = [...root.querySelectorAll(STOPS)];
    like = known(last);
    // After canceling a run or closing its result, the next action is to start another one.
    home = last.closest(".kit-results") && last.closest(".kit-form")?.querySelector(".kit-submit");
    const alike = around.filter(is);
    count = alike.length;
    place = alike.indexOf(last) - count; // from the end, as new elements are inserted at the beginning
  };
  const anew = () => {
    around = [...root.querySelectorAll(STOPS)];
    const same = around.filter(is);
    return same.length >= count && same.at(place);
  };
  const instead = () => {
    const page = last.closest(".kit-page");
    if (page?.isConnected && !seen(page)) return root.querySelector(TAB);
    const before = around;
    const twin = !last.isConnected && anew();
    if (twin && free(twin)) {
      if (typed) goOn(last, twin);
      return twin;
    }
    const all = twin ? around : before;
    const at = all.indexOf(twin || last);
    const near = [...all.slice(at + 1), ...all.slice(0, at).reverse()];
    return [home, ...near].find((part) => part && free(part) && !is(part));
  };
  // Of two paging buttons, one is disabled at the end, where the other is needed.
  const other = (part) => part.matches(".kit-paging") && free(part);
  const look = () => {
    timer = 0;
    const now = document.activeElement;
    if (!last || (now !== document.body && now !== last)) return;
    if (root.parentElement?.closest(`[${KEPT}]`)) return;
    if (!seen(last)) {
      root.tabIndex = -1; // where nothing else is left to take it
      return give(instead() ?? root);
    }
    remember();
    if (!last.disabled) return now !== last && give(last);
    const next = last.matches(".kit-paging") && [...last.parentElement.children].find(other);
    if (next) give(next);
  };
  const later = () => (timer ||= setTimeout(look, 60));
  const forget = () => (last = null);
  const on = (kind, hear) => window.addEventListener(kind, hear, { capture: true, signal });
  on("focusin", ({ target }) => {
    if (!root.contains(target)) return forget();
    last = target;
    typed = false;
    remember();
  });
  on("input", ({ target }) => (typed ||= target === last && "setSelectionRange" in target));
  on("pointerdown", ({ target }) => last?.contains(target) || forget());
  on("focusout", ({ target, relatedTarget }) => {
    if (target !== last || relatedTarget) return;
    if (!free(target)) return later();
    // If an element that stays loses the focus, the user left it; one being removed is still there now.
    const gone = () => target === last && free(target) && document.activeElement !== target;
    setTimeout(() => gone() && forget());
  });
  const watcher = new MutationObserver(later);
  watcher.observe(root, {
    attributeFilter: ["class", "disabled", "hidden", "style"],
    childList: true,
    subtree: true,
  });
  root.setAttribute(KEPT, "");
  signal.addEventListener("abort", () => (clearTimeout(timer), watcher.disconnect()));
}
