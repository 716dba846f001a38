// Moves the focus when the focused element is disabled, hidden or redrawn. A slow page reports that
// late and in any order, so it is checked after each change; a focus moved by the user is kept. Of
// nested boxes the outermost one is responsible.
const FOCUSABLE = "button, input, select, textarea, summary, [tabindex='0']:not([role=tab])";
const TAB = "[role=tab][aria-selected=true]";
const MANAGED = "data-kit-focus";

const isVisible = (part) => part.isConnected && part.checkVisibility({ visibilityProperty: true });
const canFocus = (part) => isVisible(part) && !part.disabled;
const textOf = (part) => part?.textContent.trim() ?? "";
// The browser's own `labels` searches the whole page, which is too slow for a long table.
const labelOf = (part) =>
  part.closest("label") ?? part.closest(".jupyter-widgets")?.querySelector(":scope > label");
const fingerprint = (part) => {
  const text = part.title || (part.matches("button") ? textOf(part) : part.placeholder);
  return [part.ariaLabel, textOf(labelOf(part)), text].join("|");
};

// Typing continues in a redrawn field, at the same position.
function continueTyping(before, part) {
  const { value, selectionStart: from, selectionEnd: to } = before;
  if (part.value !== value) {
    part.value = value;
    part.dispatchEvent(new Event("input", { bubbles: true }));
  }
  if (from !== null) part.setSelectionRange?.(from, to);
}

function keepFocus(root, signal) {
  let last, lastPrint, count, place, timer, submit;
  let focusable = [];
  let typed = false;
  const setFocus = (part) => part.focus({ preventScroll: true }); // the user may be looking at another part
  const kindOf = ({ tagName, type }) => `${tagName} ${type}`; // cheap, for a thousand elements
  const matchesLast = (part) => kindOf(part) === kindOf(last) && fingerprint(part) === lastPrint;
  const remember = () => {
    focusable = [...root.querySelectorAll(FOCUSABLE)];
    lastPrint = fingerprint(last);
    // After canceling a run or closing its result, the next action is to start another one.
    submit = last.closest(".kit-results") && last.closest(".kit-form")?.querySelector(".kit-submit");
    const matching = focusable.filter(matchesLast);
    count = matching.length;
    place = matching.indexOf(last) - count; // from the end, as new elements are inserted at the beginning
  };
  const findRedrawn = () => {
    focusable = [...root.querySelectorAll(FOCUSABLE)];
    const same = focusable.filter(matchesLast);
    return same.length >= count && same.at(place);
  };
  const findNext = () => {
    const page = last.closest(".kit-page");
    if (page?.isConnected && !isVisible(page)) return root.querySelector(TAB);
    const before = focusable;
    const redrawn = !last.isConnected && findRedrawn();
    if (redrawn && canFocus(redrawn)) {
      if (typed) continueTyping(last, redrawn);
      return redrawn;
    }
    const all = redrawn ? focusable : before;
    const at = all.indexOf(redrawn || last);
    const nearest = [...all.slice(at + 1), ...all.slice(0, at).reverse()];
    return [submit, ...nearest].find((part) => part && canFocus(part) && !matchesLast(part));
  };
  // Of two paging buttons, one is disabled at the end, where the other is needed.
  const isOtherPaging = (part) => part.matches(".kit-paging") && canFocus(part);
  const checkFocus = () => {
    timer = 0;
    const now = document.activeElement;
    if (!last || (now !== document.body && now !== last)) return;
    if (root.parentElement?.closest(`[${MANAGED}]`)) return;
    if (!isVisible(last)) {
      root.tabIndex = -1; // where nothing else is left to take it
      return setFocus(findNext() ?? root);
    }
    remember();
    if (!last.disabled) return now !== last && setFocus(last);
    const next = last.matches(".kit-paging") && [...last.parentElement.children].find(isOtherPaging);
    if (next) setFocus(next);
  };
  const checkSoon = () => (timer ||= setTimeout(checkFocus, 60));
  const forget = () => (last = null);
  const on = (kind, handler) => window.addEventListener(kind, handler, { capture: true, signal });
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
    if (!canFocus(target)) return checkSoon();
    // If an element that stays loses the focus, the user left it; one being removed is still there now.
    const gone = () => target === last && canFocus(target) && document.activeElement !== target;
    setTimeout(() => gone() && forget());
  });
  const watcher = new MutationObserver(checkSoon);
  watcher.observe(root, {
    attributeFilter: ["class", "disabled", "hidden", "style"],
    childList: true,
    subtree: true,
  });
  root.setAttribute(MANAGED, "");
  signal.addEventListener("abort", () => (clearTimeout(timer), watcher.disconnect()));
}
