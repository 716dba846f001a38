const ENDED = ["restarting", "autorestarting", "starting", "terminating", "dead"];

// The page disposes widgets when the user restarts their kernel, but not when the kernel dies. When
// another page restarts it, a shutdown reply arrives, but the new kernel's first status may be lost.
function onKernelGone(model, signal, end) {
  const { statusChanged, iopubMessage, disposed } = model.widget_manager?.kernel ?? {};
  const onStatus = (_, status) => ENDED.includes(status) && end();
  const onMessage = (_, { header }) => header.msg_type === "shutdown_reply" && end();
  const handlers = [[statusChanged, onStatus], [iopubMessage, onMessage], [disposed, end]];
  handlers.forEach(([event, handler]) => event?.connect(handler));
  model.on("comm_live_update", end);
  const disconnect = () => handlers.forEach(([event, handler]) => event?.disconnect(handler));
  signal.addEventListener("abort", disconnect);
}
