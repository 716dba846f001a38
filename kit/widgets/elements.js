// Creates an element with some properties and children.
const makeElement = (tag, traits, ...children) => {
  const element = Object.assign(document.createElement(tag), traits);
  element.append(...children);
  return element;
};
