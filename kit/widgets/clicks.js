// A click would overtake what was typed: the page holds a change back until the one before was
// heard, but no click. So what is held back leaves before a click does. While something is on its
// way, what is shown beside it is of before; and a button that pays is deaf until it was heard.
const TURN = 40; // ms between two looks
const PATIENCE = 60_000; // ms
const BEHIND = "data-kit-behind";

const within = (one) => [one, ...(one.get("children") ?? []).flatMap(within)];
const waits = (one) => one._pending_msgs > 0;

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
    button.ariaBusy = null;
  };
  const late = setTimeout(end, PATIENCE); // a message may be lost
  const changes = new MutationObserver(end); // it rests, or says something else: it was heard
  const status = ({ content }) => content.execution_state === "idle" && end();
  button.ariaBusy = "true";
  changes.observe(button, { attributeFilter: ["disabled"], childList: true });
  setTimeout(() => model.send({ clicked: true }, { iopub: { status } })); // after the click
}

function inTurn(model, root, signal) {
  let box, timer;
  const mark = () => {
    clearTimeout(timer);
    const late = Boolean(box) && within(box).some(waits);
    root.toggleAttribute(BEHIND, late);
    if (late) timer = setTimeout(mark, TURN);
  };
  const press = (event) => {
    const button = event.target.closest("button.widget-button");
    if (button?.closest(`[${KEPT}]`) !== root) return;
    if (button.ariaBusy) return event.stopImmediatePropagation();
    if (box) within(box).forEach(letGo);
    if (button.matches(".kit-once")) deafen(button, model);
  };
  const on = (kind, call) => root.addEventListener(kind, call, { capture: true, signal });
  on("click", press);
  for (const kind of ["input", "change", "click", "keydown", "pointerup"])
    on(kind, () => setTimeout(mark));
  signal.addEventListener("abort", () => clearTimeout(timer));
  const find = async () => {
    if (model.get("box")) box = await model.widget_manager.get_model(model.get("box"));
  };
  model.on("change:box", find);
  find();
}
