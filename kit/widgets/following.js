// The kernel counts the pages that show a widget. While visible, a widget that follows its service
// makes the kernel check for changes made elsewhere: some time after the last check was received, and
// never for a hidden page.
const PAUSE = 10_000; // ms
const LOST = 60_000; // ms after which a check counts as lost

function lookAround(model, root, signal) {
  let timer;
  const after = (pause) => {
    clearTimeout(timer);
    if (!signal.aborted) timer = setTimeout(look, pause);
  };
  const status = ({ content }) => content.execution_state === "idle" && after(PAUSE);
  const look = () => {
    const shown = !document.hidden && seen(root);
    after(shown ? LOST : PAUSE);
    if (shown) model.send({ look: true }, { iopub: { status } });
  };
  const end = () => clearTimeout(timer);
  const count = (pages) => {
    try {
      model.send({ pages });
    } catch {} // the kernel is gone
  };
  count(1);
  signal.addEventListener("abort", () => count(-1));
  window.addEventListener("pagehide", () => count(-1), { signal });
  if (!model.get("follows")) return;
  document.addEventListener("visibilitychange", () => document.hidden || after(0), { signal });
  whenGone(model, signal, end);
  signal.addEventListener("abort", end);
  after(PAUSE);
}

