// A secret is sent in a single message and kept in this element only, because the model's state is
// saved. The model of a secret that is shown once has no label.
const button = (facts) => make("button", { className: "jupyter-button", ...facts });
const NO_KEY = "a key has no blanks, and no letters beyond ASCII: copy it once more";

function ask(model, form) {
  const id = `kit-secret-${Math.random().toString(36).slice(2)}`;
  const label = make("label", { htmlFor: id });
  const field = make("input", { id, type: "password", autocomplete: "off", spellcheck: false });
  const send = button({ type: "submit" });
  const said = make("span", { id: `${id}-said`, className: "kit-note", role: "status" });
  field.setAttribute("aria-describedby", said.id);
  form.dataset.lmSuppressShortcuts = "true";
  const say = (text, wrong = false) => {
    said.textContent = text;
    said.className = wrong ? "kit-bad" : "kit-note";
    field.ariaInvalid = wrong || null;
  };
  const show = () => {
    label.textContent = model.get("label");
    field.placeholder = model.get("placeholder");
    send.textContent = model.get("action");
    field.disabled = send.disabled = model.get("disabled");
    say(model.get("hint"));
  };
  const wrong = () => /[^\x21-\x7e]/.test(field.value.trim());
  field.addEventListener("input", () => say(wrong() ? NO_KEY : "", wrong()));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!field.value || wrong()) return field.focus();
    say("sending …");
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
  form.append(label, field, send, said);
  show();
  return [show, () => (field.value = "")];
}

function reveal(model, box) {
  const said = make("span", { textContent: model.get("hint"), role: "status" });
  const shown = make("code", { hidden: true });
  const copy = button({ type: "button", textContent: "Copy", hidden: true });
  const tell = ({ secret, gone }) => {
    if (gone && !shown.textContent)
      said.textContent = "It was shown already. Make another one if it was not kept.";
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
  box.append(said, shown, copy);
  return [tell, () => tell({ secret: "" })];
}

function render({ model, el }) {
  const asks = model.get("label") !== undefined;
  const box = make(asks ? "form" : "div", { className: "kit-secret" });
  const [hear, forget] = (asks ? ask : reveal)(model, box);
  el.append(box);
  model.on("msg:custom", hear);
  if (!asks) model.send({ ready: true });
  return () => {
    forget();
    model.off("change", hear);
    model.off("msg:custom", hear);
  };
}

export default { render };
