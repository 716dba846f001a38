// A click would arrive before typed text: the page delays a change until the previous one was
// received, but not a click. So delayed changes are sent before a click. While changes are pending,
// the output beside them is outdated, and a paying button ignores clicks until one was received.
// If the kernel is gone, nothing is pending any more.
const SHORTEST_PAUSE = 40; // ms between two checks, increasing, because a cell may run for hours
const LONGEST_PAUSE = 1000; // ms
const ANSWER_TIMEOUT = 60_000; // ms
const PENDING = "data-kit-pending";

const withChildren = (one) => [one, ...(one.get("children") ?? []).flatMap(withChildren)];
const hasPending = (one) => one._pending_msgs > 0;
const setBusy = (button, now) => (button.ariaBusy = button.ariaDisabled = now);

// A widget without its kernel is marked at its top and disabled; typed text can still be copied.
const NOT_RUNNING = "Not running: run the cell again.";
const CONTINUES = " What was started continues: studio.history has it.";

function disableWhenGone(model, el, signal, root) {
  const end = () => {
    const box = root();
    if (!box?.isConnected || el.textContent) return;
    // Change only what differs: otherwise mutation observers would be called endlessly.
    if (!box.classList.contains("kit-disconnected")) box.classList.add("kit-disconnected");
    // A drop zone shows this itself.
    for (const button of box.querySelectorAll("button:enabled:not(.kit-drop *)")) button.disabled = true;
    if (box.parentElement?.closest(`[${MANAGED}]`)) return; // the outer widget shows it
    el.classList.add("kit-gone");
    el.role = "alert";
    el.textContent = NOT_RUNNING + (box.querySelector(".kit-bar > button") ? CONTINUES : "");
  };
  onKernelGone(model, signal, end);
  return end;
}

function sendPending(one) {
  const { _msg_buffer: state, _msg_buffer_callbacks: calls } = one;
  if (!state) return;
  one._msg_buffer = one._msg_buffer_callbacks = null;
  one.rememberLastUpdateFor(one.send_sync_message(state, calls ?? {}));
}

function waitForAnswer(button, model) {
  const end = () => {
    clearTimeout(timer);
    changes.disconnect();
    setBusy(button, null);
  };
  const timer = setTimeout(end, ANSWER_TIMEOUT); // a message may be lost
  const changes = new MutationObserver(end); // received: it is disabled, or its label changes
  const status = ({ content }) => content.execution_state === "idle" && end();
  setBusy(button, "true");
  changes.observe(button, { attributeFilter: ["disabled"], childList: true });
  setTimeout(() => model.send({ clicked: true }, { iopub: { status } })); // after the click
}

function orderClicks(model, root, signal) {
  let box, timer, pause, gone;
  const markPending = () => {
    const waiting = !gone && Boolean(box) && withChildren(box).some(hasPending);
    root.toggleAttribute(PENDING, waiting);
    if (waiting) timer = setTimeout(markPending, (pause = Math.min(LONGEST_PAUSE, 1.25 * pause)));
  };
  const markSoon = () => {
    clearTimeout(timer);
    pause = SHORTEST_PAUSE;
    timer = setTimeout(markPending);
  };
  const end = () => {
    gone = true;
    markSoon();
    root.querySelectorAll("button[aria-busy]").forEach((button) => setBusy(button, null));
  };
  const onClick = (event) => {
    const button = event.target.closest("button.widget-button");
    if (button?.closest(`[${MANAGED}]`) !== root) return;
    if (button.ariaBusy) return event.stopImmediatePropagation();
    if (box) withChildren(box).forEach(sendPending);
    // A reopened notebook may have no kernel to receive it.
    if (button.matches(".kit-click-once") && !gone && box?.comm_live !== false) waitForAnswer(button, model);
  };
  const on = (kind, handler) => root.addEventListener(kind, handler, { capture: true, signal });
  on("click", onClick);
  for (const kind of ["input", "change", "click", "keydown", "pointerup"]) on(kind, markSoon);
  onKernelGone(model, signal, end);
  signal.addEventListener("abort", () => clearTimeout(timer));
  // Without the box, everything works as in ipywidgets.
  const setBox = (found) => (box = found);
  const findBox = () => model.widget_manager.get_model(model.get("box")).then(setBox, () => {});
  model.on("change:box", findBox);
  findBox();
}
