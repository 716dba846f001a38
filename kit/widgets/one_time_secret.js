// The secret comes as one message and lives in this element alone: what the model holds is saved.
export default {
  render({ model, el }) {
    const make = (tag, facts) => Object.assign(document.createElement(tag), facts);
    const box = make("div", { className: "kit-one-time-secret" });
    const said = make("span", { textContent: model.get("hint") });
    const shown = make("code", { hidden: true });
    const copy = make("button", {
      type: "button",
      className: "jupyter-button",
      textContent: "Copy",
      hidden: true,
    });
    said.setAttribute("role", "status");
    const tell = ({ secret, gone }) => {
      if (secret) {
        shown.textContent = secret;
        shown.hidden = copy.hidden = false;
      } else if (gone && !shown.textContent) {
        said.textContent = "It was shown already. Make another one if it was not kept.";
      } else if (gone) {
        shown.textContent = "";
        shown.hidden = copy.hidden = true;
      }
    };
    copy.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(shown.textContent);
        copy.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(shown); // a page that is not secure has no clipboard
      }
    });
    model.on("msg:custom", tell);
    box.append(said, shown, copy);
    el.append(box);
    model.send({ ready: true });
    return () => {
      shown.textContent = "";
      model.off("msg:custom", tell);
    };
  },
};
