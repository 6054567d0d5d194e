/** The text as it came: pieces before the caret, the piece that came last, and what is still to come. */

import { byId, make } from "./dom.js";
import { bytes, count } from "./format.js";

/** Draw the window around the caret; return what scrolls to it. */
export function drawRaw({ raw, n }) {
  const element = byId("raw");
  const caret = make("i", "caret");
  const past = [];
  const future = [];
  if (raw.start > 0) past.push(make("span", "past", "… "));
  for (const [number, text] of raw.pieces) {
    const isPast = number <= n;
    const span = make("span", isPast ? (number === n ? "new cut" : "past cut") : "future cut", text);
    span.dataset.n = number;
    (isPast ? past : future).push(span);
  }
  element.replaceChildren(...past, caret, ...future);
  byId("raw-facts").textContent = `${bytes(raw.caret)} of ${bytes(raw.total)}, byte ${count(raw.caret)}`;
  return () => {
    const { offsetTop } = caret;
    const { scrollTop, clientHeight } = element;
    if (offsetTop < scrollTop + 40 || offsetTop > scrollTop + clientHeight - 60) element.scrollTop = offsetTop - clientHeight * 0.6;
  };
}
