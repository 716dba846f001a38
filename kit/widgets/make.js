// An element of the page with some traits, and what is inside of it.
const make = (tag, traits, ...inside) => {
  const made = Object.assign(document.createElement(tag), traits);
  made.append(...inside);
  return made;
};
