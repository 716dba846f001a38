// A secret is sent in a single message and kept in this element only, because the model's state is
// saved. The model of a secret that is shown once has no label.
const button = (properties) => makeElement("button", { className: "jupyter-button", ...properties });
const INVALID_KEY = "a key has no blanks, and no letters beyond ASCII: copy it once more";

function buildInput(model, form) {
  const id = `kit-secret-${Math.random().toString(36).slice(2)}`;
  const label = makeElement("label", { htmlFor: id });
  const field = makeElement("input", { id, type: "password", autocomplete: "off", spellcheck: false });
  const send = button({ type: "submit" });
  const status = makeElement("span", { id: `${id}-status`, className: "kit-note", role: "status" });
  field.setAttribute("aria-describedby", status.id);
  form.dataset.lmSuppressShortcuts = "true";
  const setStatus = (text, wrong = false) => {
    status.textContent = text;
    status.className = wrong ? "kit-bad" : "kit-note";
    field.ariaInvalid = wrong || null;
  };
  const show = () => {
    label.textContent = model.get("label");
    field.placeholder = model.get("placeholder");
    send.textContent = model.get("action");
    field.disabled = send.disabled = model.get("disabled");
    setStatus(model.get("hint"));
  };
  const wrong = () => /[^\x21-\x7e]/.test(field.value.trim());
  field.addEventListener("input", () => setStatus(wrong() ? INVALID_KEY : "", wrong()));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!field.value || wrong()) return field.focus();
    setStatus("sending …");
    model.send({ secret: field.value });
    field.value = "";
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault(); // the notebook uses this key itself
    event.stopPropagation();
    form.requestSubmit();
  });
  model.on("change", show);
  form.append(label, field, send, status);
  show();
  return [show, () => (field.value = "")];
}

function buildDisplay(model, box) {
  const status = makeElement("span", { textContent: model.get("hint"), role: "status" });
  const shown = makeElement("code", { hidden: true });
  const copy = button({ type: "button", textContent: "Copy", hidden: true });
  const showSecret = ({ secret, gone }) => {
    if (gone && !shown.textContent)
      status.textContent = "It was shown already. Make another one if it was not kept.";
    shown.textContent = secret ?? "";
    shown.hidden = copy.hidden = !secret;
  };
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(shown.textContent);
      copy.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(shown); // an insecure page has no clipboard
    }
  });
  box.append(status, shown, copy);
  return [showSecret, () => showSecret({ secret: "" })];
}

function render({ model, el }) {
  const isInput = model.get("label") !== undefined;
  const box = makeElement(isInput ? "form" : "div", { className: "kit-secret" });
  const [onMessage, forget] = (isInput ? buildInput : buildDisplay)(model, box);
  el.append(box);
  model.on("msg:custom", onMessage);
  if (!isInput) model.send({ ready: true });
  return () => {
    forget();
    model.off("change", onMessage);
    model.off("msg:custom", onMessage);
  };
}

export default { render };
