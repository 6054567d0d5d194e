/** Small help with elements. */

export const byId = (id) => document.getElementById(id);

/** Make an element with a class, and with text or other elements in it. */
export function make(tag, className = "", ...content) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...content);
  return element;
}

/** Make an element of a drawing; numbers and texts as attributes. */
export function draw(tag, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

/** Show text in an element, or hide it if there is none. */
export function showText(element, text) {
  element.hidden = !text;
  if (element.textContent !== (text ?? "")) element.textContent = text ?? "";
}
