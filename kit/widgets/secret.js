// The secret leaves as one message and is gone from the page; nothing of it becomes widget state.
export default {
  render({ model, el }) {
    const make = (tag, facts) => Object.assign(document.createElement(tag), facts);
    const id = `kit-secret-${Math.random().toString(36).slice(2)}`;
    const form = make("form", { className: "kit-secret" });
    const label = make("label", { htmlFor: id });
    const field = make("input", { id, type: "password", autocomplete: "off", spellcheck: false });
    const button = make("button", { type: "submit", className: "jupyter-button" });
    const said = make("span", { className: "kit-note" });
    said.setAttribute("role", "status");
    form.dataset.lmSuppressShortcuts = "true";
    const show = () => {
      label.textContent = model.get("label");
      field.placeholder = model.get("placeholder");
      button.textContent = model.get("action");
      field.disabled = button.disabled = model.get("disabled");
      said.textContent = model.get("hint");
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (!field.value) return field.focus();
      said.textContent = "sending …";
      model.send({ secret: field.value });
      field.value = "";
    });
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault(); // the notebook has plans of its own for this key
      event.stopPropagation();
      form.requestSubmit();
    });
    model.on("change", show);
    model.on("msg:custom", show);
    form.append(label, field, button, said);
    el.append(form);
    show();
    return () => {
      field.value = "";
      model.off("change", show);
      model.off("msg:custom", show);
    };
  },
};
