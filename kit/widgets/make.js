// Creates an element with some properties and children.
const make = (tag, traits, ...inside) => {
  const made = Object.assign(document.createElement(tag), traits);
  made.append(...inside);
  return made;
};
