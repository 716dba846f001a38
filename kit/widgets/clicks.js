// A click would arrive before typed text: the page delays a change until the previous one was
// received, but not a click. So delayed changes are sent before a click. While changes are pending,
// the output beside them is outdated, and a paying button ignores clicks until one was received.
// If the kernel is gone, nothing is pending any more.
const TURN = 40; // ms between two checks, increasing, because a cell may run for hours
const SLOW = 1000; // ms
const PATIENCE = 60_000; // ms
const BEHIND = "data-kit-pending";
const ENDS = ["restarting", "autorestarting", "starting", "terminating", "dead"];

const within = (one) => [one, ...(one.get("children") ?? []).flatMap(within)];
const waits = (one) => one._pending_msgs > 0;
const rest = (button, now) => (button.ariaBusy = button.ariaDisabled = now);

// The page disposes widgets when the user restarts their kernel, but not when the kernel dies. When
// another page restarts it, a shutdown reply arrives, but the new kernel's first status may be lost.
function whenGone(model, signal, end) {
  const { statusChanged, iopubMessage, disposed } = model.widget_manager?.kernel ?? {};
  const hear = (_, status) => ENDS.includes(status) && end();
  const read = (_, { header }) => header.msg_type === "shutdown_reply" && end();
  const heard = [[statusChanged, hear], [iopubMessage, read], [disposed, end]];
  heard.forEach(([sent, call]) => sent?.connect(call));
  model.on("comm_live_update", end);
  signal.addEventListener("abort", () => heard.forEach(([sent, call]) => sent?.disconnect(call)));
}

// A widget without its kernel is marked at its top and disabled; typed text can still be copied.
const GONE = "Not running: run the cell again.";
const STARTED = " What was started continues: studio.history has it.";

function restWhenGone(model, el, signal, root) {
  const end = () => {
    const box = root();
    if (!box?.isConnected || el.textContent) return;
    // Change only what differs: otherwise mutation observers would be called endlessly.
    if (!box.classList.contains("kit-disconnected")) box.classList.add("kit-disconnected");
    // A drop zone shows this itself.
    for (const button of box.querySelectorAll("button:enabled:not(.kit-drop *)")) button.disabled = true;
    if (box.parentElement?.closest(`[${KEPT}]`)) return; // the outer widget shows it
    el.classList.add("kit-gone");
    el.role = "alert";
    el.textContent = GONE + (box.querySelector(".kit-bar > button") ? STARTED : "");
  };
  whenGone(model, signal, end);
  return end;
}

function letGo(one) {
  const { _msg_buffer: state, _msg_buffer_callbacks: calls } = one;
  if (!state) return;
  one._msg_buffer = one._msg_buffer_callbacks = null;
  one.rememberLastUpdateFor(one.send_sync_message(state, calls ?? {}));
}

function deafen(button, model) {
  const end = () => {
    clearTimeout(late);
    changes.disconnect();
    rest(button, null);
  };
  const late = setTimeout(end, PATIENCE); // a message may be lost
  const changes = new MutationObserver(end); // received: it is disabled, or its label changes
  const status = ({ content }) => content.execution_state === "idle" && end();
  rest(button, "true");
  changes.observe(button, { attributeFilter: ["disabled"], childList: true });
  setTimeout(() => model.send({ clicked: true }, { iopub: { status } })); // after the click
}

function inTurn(model, root, signal) {
  let box, timer, pause, gone;
  const mark = () => {
    const late = !gone && Boolean(box) && within(box).some(waits);
    root.toggleAttribute(BEHIND, late);
    if (late) timer = setTimeout(mark, (pause = Math.min(SLOW, 1.25 * pause)));
  };
  const soon = () => {
    clearTimeout(timer);
    pause = TURN;
    timer = setTimeout(mark);
  };
  const end = () => {
    gone = true;
    soon();
    root.querySelectorAll("button[aria-busy]").forEach((button) => rest(button, null));
  };
  const press = (event) => {
    const button = event.target.closest("button.widget-button");
    if (button?.closest(`[${KEPT}]`) !== root) return;
    if (button.ariaBusy) return event.stopImmediatePropagation();
    if (box) within(box).forEach(letGo);
    // A reopened notebook may have no kernel to receive it.
    if (button.matches(".kit-click-once") && !gone && box?.comm_live !== false) deafen(button, model);
  };
  const on = (kind, call) => root.addEventListener(kind, call, { capture: true, signal });
  on("click", press);
  for (const kind of ["input", "change", "click", "keydown", "pointerup"]) on(kind, soon);
  whenGone(model, signal, end);
  signal.addEventListener("abort", () => clearTimeout(timer));
  // Without the box, everything works as in ipywidgets.
  const took = (found) => (box = found);
  const find = () => model.widget_manager.get_model(model.get("box")).then(took, () => {});
  model.on("change:box", find);
  find();
}
