// Arrow keys and letters work in a list instead of selecting cells. The notebook handles keys at the
// document, so elements are marked before; commands stay with the notebook, except Ctrl+Enter in a
// form with a submit button.
function keepShortcuts(root, signal) {
  const onKey = (event) => {
    const { target, key, ctrlKey, metaKey, altKey, shiftKey } = event;
    if (!root.contains(target)) return;
    const submit =
      key === "Enter" && (ctrlKey || metaKey) && target.closest(".kit-form")?.querySelector(".kit-submit");
    const command = !submit && (ctrlKey || metaKey || altKey || (shiftKey && key === "Enter"));
    target.toggleAttribute("data-lm-suppress-shortcuts", !command && key !== "Escape");
    if (!submit) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (!event.repeat) submit.click();
  };
  window.addEventListener("keydown", onKey, { capture: true, signal });
}

