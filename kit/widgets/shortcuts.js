// Arrows choose in a list and letters look in it: to the notebook they mean other cells. It hears
// keys at the document, so whose they are is said before; commands stay the notebook's.
function ownKeys(root, signal) {
  const hear = ({ target, key, ctrlKey, metaKey, altKey, shiftKey }) => {
    const command = ctrlKey || metaKey || altKey || (shiftKey && key === "Enter");
    if (!root.contains(target)) return;
    target.toggleAttribute("data-lm-suppress-shortcuts", !command && key !== "Escape");
  };
  window.addEventListener("keydown", hear, { capture: true, signal });
}

