/** Numbers, times and sizes for people. */

export const count = (number) => number.toLocaleString("en");

export const plural = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

export function seconds(time) {
  if (time < 10) return `${time.toFixed(3)} s`;
  if (time < 100) return `${time.toFixed(2)} s`;
  return `${time.toFixed(1)} s`;
}

export function bytes(size) {
  if (size < 1000) return `${size} B`;
  return size < 1_000_000 ? `${(size / 1000).toFixed(1)} KB` : `${(size / 1_000_000).toFixed(2)} MB`;
}

/** Text on one line, with what cannot be seen written out. */
export function visible(text) {
  return text.replace(/\n/g, "⏎").replace(/\t/g, "⇥").replace(/[\0-\x1f\x7f]/g, "␀");
}

/** A path as readers look for it: without the root, unless it is the root; of a long one the end. */
export function pathText(text, limit = Infinity) {
  const path = text.replace(/^root\.?(?=.)/, "");
  if (path.length <= limit) return path;
  const rest = path.slice(-limit);
  return `…${rest.slice(Math.max(0, rest.search(/[.[]/))).replace(/^\./, "")}`;
}
