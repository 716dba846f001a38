// Sends a file to the kernel in pieces: a websocket message has at most ten megabytes. Responses say
// which piece is next, so lost ones are requested again.
const PIECE = 4 * 1024 * 1024;
const QUIET = 3000; // ms without a response, until the kernel is asked again
const PATIENCE = 40; // times

const GONE = "The kernel was restarted: run the cell, then choose the file again.";
const SILENT = "The kernel does not answer: try again when it is idle.";

let store = {};
try {
  store = sessionStorage;
} catch {} // the page has no session storage
const mega = (count) => (count / 1e6).toFixed(1);

function talk(model, el, waiting) {
  const id = String(Math.random());
  let sent = 0;
  let ended = false;
  let answered = () => {};
  const hear = (m) => m.id === id && m.n === sent && answered(m);
  const send = (message, piece) => {
    sent += 1;
    try {
      model.send({ ...message, id, n: sent }, undefined, piece ? [piece] : []);
    } catch {} // there is no kernel, and thus no response
  };
  const answer = () =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, QUIET);
      answered = (m) => (clearTimeout(timer), resolve(m));
    });
  model.on("msg:custom", hear);
  return {
    async ask(message, piece) {
      send(message, piece);
      for (let quiet = 0; quiet < PATIENCE; quiet += 1) {
        const told = ended ? { no: "Canceled." } : await answer();
        if (told?.no) throw Error(told.no);
        if (told && !told.wait) return told;
        if (el.closest(".jupyter-widgets-disconnected")) throw Error(GONE);
        waiting();
        if (told) quiet = 0;
        else send({ do: "where" });
      }
      throw Error(SILENT);
    },
    end() {
      ended = true;
      answered({ no: "Canceled." });
    },
    close() {
      send({ do: "stop" });
      model.off("msg:custom", hear);
    },
  };
}

async function give(files, talking, show) {
  const offers = files.map(({ name, type, size }) => ({ name, type, size }));
  let next = await talking.ask({ do: "offer", files: offers });
  while (!next.done) {
    const { file, at } = next;
    show(file, at);
    let piece;
    try {
      piece = await files[file].slice(at, at + PIECE).arrayBuffer();
    } catch {
      throw Error(`${files[file].name} cannot be read: it is a folder, or has changed.`);
    }
    next = await talking.ask({ do: "piece", file, at }, piece);
  }
}

function render({ model, el }) {
  const key = `kit-drop-${model.get("key")}`;
  const title = model.get("label");
  const several = model.get("several");
  let talking = null;

  const input = make("input", { type: "file", multiple: several, accept: model.get("accept") });
  const choose = make("button", {
    className: "jupyter-button",
    textContent: several ? "Choose files" : "Choose a file",
  });
  const cancel = make("button", { className: "jupyter-button", textContent: "Cancel" });
  const hint = make("small", { className: "kit-note", textContent: model.get("hint") });
  const idle = make("div", {}, make("span", { textContent: model.get("call") }), choose, hint);
  const bar = make("progress", { max: 1 });
  const count = make("span", {});
  const busy = make("div", { hidden: true }, bar, count, cancel);
  const said = make("p", { hidden: true });
  input.hidden = true;
  choose.ariaLabel = `${choose.textContent} to upload: ${title}`;
  cancel.ariaLabel = `Cancel the upload: ${title}`;
  for (const part of [bar, el]) part.ariaLabel = `Upload: ${title}`;
  el.role = "group";
  el.append(input, idle, busy, said);

  const say = (text, kind = "wait") => {
    said.className = kind === "bad" ? "kit-bad" : `kit-note kit-drop-${kind}`;
    said.setAttribute("role", kind === "bad" ? "alert" : "status");
    said.textContent = text;
    said.hidden = !text;
  };

  const take = async (list) => {
    const files = [...list];
    input.value = ""; // so that the same file can be chosen again
    if (!files.length) return;
    if (talking) return say("One upload at a time.", "bad");
    const show = (file, at) => {
      const { name, size } = files[file];
      const nth = files.length > 1 ? `${file + 1} of ${files.length}: ` : "";
      bar.value = at / (size || 1);
      const share = Math.floor(100 * bar.value);
      count.textContent = `${nth}${name} · ${mega(at)} of ${mega(size)} MB · ${share} %`;
      say("");
    };
    const busily = (yes) => {
      const focused = el.contains(document.activeElement);
      idle.hidden = yes;
      busy.hidden = !yes;
      if (focused) (yes ? cancel : choose).focus();
    };
    talking = talk(model, el, () => say("Waiting for the kernel …"));
    store[key] = `${performance.timeOrigin} ${files[0].name}`;
    busily(true);
    try {
      show(0, 0);
      await give(files, talking, show);
      say(`Arrived: ${files.map((file) => file.name).join(", ")}`, "done");
    } catch (problem) {
      say(problem.message, "bad");
    } finally {
      talking.close();
      talking = null;
      delete store[key];
      busily(false);
    }
  };

  const over = (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    event.stopPropagation();
    el.classList.toggle("kit-drop-over", event.type === "dragover");
    if (event.type === "drop") take(event.dataTransfer.files);
  };
  for (const kind of ["dragover", "dragleave", "drop"]) el.addEventListener(kind, over);
  const stop = new AbortController();
  const around = (event) => {
    const { target } = event;
    if (target.closest?.(".kit-drop") || target.closest?.(".kit-form") !== el.closest(".kit-form")) return;
    over(event);
  };
  if (model.get("whole"))
    for (const kind of ["dragover", "dragleave", "drop"])
      window.addEventListener(kind, around, { signal: stop.signal });
  choose.onclick = () => input.click();
  input.onchange = () => take(input.files);
  cancel.onclick = () => talking?.end();

  const [origin, ...broken] = (store[key] ?? "").split(" ");
  if (broken.length && origin !== String(performance.timeOrigin)) {
    say(`The page was reloaded, and ${broken.join(" ")} did not arrive: choose it again.`, "bad");
    delete store[key];
  }
  return () => (stop.abort(), talking?.end());
}

export default { render };
