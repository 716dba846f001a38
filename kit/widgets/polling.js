// The kernel counts the pages that show a widget. While visible, a widget that follows its service
// makes the kernel check for changes made elsewhere: some time after the last check was received, and
// never for a hidden page.
const PAUSE = 10_000; // ms
const LOST_AFTER = 60_000; // ms after which a check counts as lost

function pollWhileVisible(model, root, signal) {
  let timer;
  const schedule = (pause) => {
    clearTimeout(timer);
    if (!signal.aborted) timer = setTimeout(poll, pause);
  };
  const status = ({ content }) => content.execution_state === "idle" && schedule(PAUSE);
  const poll = () => {
    const visible = !document.hidden && isVisible(root);
    schedule(visible ? LOST_AFTER : PAUSE);
    if (visible) model.send({ look: true }, { iopub: { status } });
  };
  const end = () => clearTimeout(timer);
  const countPages = (pages) => {
    try {
      model.send({ pages });
    } catch {} // the kernel is gone
  };
  countPages(1);
  signal.addEventListener("abort", () => countPages(-1));
  window.addEventListener("pagehide", () => countPages(-1), { signal });
  if (!model.get("follows")) return;
  document.addEventListener("visibilitychange", () => document.hidden || schedule(0), { signal });
  onKernelGone(model, signal, end);
  signal.addEventListener("abort", end);
  schedule(PAUSE);
}

