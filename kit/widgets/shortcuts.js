// Arrows choose in a list and letters look in it: to the notebook they mean other cells. It hears
// keys at the document, so whose they are is said before; commands stay the notebook's, but for
// Ctrl+Enter where there is a form to submit.
function ownKeys(root, signal) {
  const hear = (event) => {
    const { target, key, ctrlKey, metaKey, altKey, shiftKey } = event;
    if (!root.contains(target)) return;
    const sends =
      key === "Enter" && (ctrlKey || metaKey) && target.closest(".kit-form")?.querySelector(".kit-submit");
    const command = !sends && (ctrlKey || metaKey || altKey || (shiftKey && key === "Enter"));
    target.toggleAttribute("data-lm-suppress-shortcuts", !command && key !== "Escape");
    if (!sends) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (!event.repeat) sends.click();
  };
  window.addEventListener("keydown", hear, { capture: true, signal });
}

