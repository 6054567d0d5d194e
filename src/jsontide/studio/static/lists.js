/** Lists of what happened, each entry in its moment: changes, chunks, repairs. */

import { byId, make } from "./dom.js";
import { count, pathText, plural, visible } from "./format.js";

/** Make an entry that goes to its moment. */
export function makeEntry(n, what, text, now) {
  const entry = make("li", "entry", make("span", "n", count(n)), make("span", "what", what), make("span", "text", visible(text)));
  entry.dataset.n = n;
  entry.classList.toggle("now", n === now);
  return entry;
}

/** Give the numbers of a list the room that its greatest one needs, so that their columns are as wide in all entries. */
export function fitNumbers(element, greatest) {
  element.style.setProperty("--number", `${count(greatest).length}ch`);
}

/** Draw the changes up to this moment; return what scrolls to the newest, at their end. */
export function drawEvents(view) {
  const element = byId("events");
  fitNumbers(element, view.n);
  element.replaceChildren(
    ...view.events.map((event) => {
      const entry = makeEntry(event.n, event.what, event.text, view.n);
      entry.classList.add(event.what);
      entry.lastChild.before(make("span", "where", pathText(event.path, 19)));
      entry.title = `${event.path} ${event.text}`;
      return entry;
    }),
  );
  const here = view.events.filter((event) => event.n === view.n).length;
  byId("events-facts").textContent = `${plural(here, "change")} in this moment`;
  return () => (element.scrollTop = element.scrollHeight);
}

/** Draw the chunks that the values turn back into. */
export function drawChunks({ from, base, chunks }, now) {
  const note = from
    ? `The values since moment ${count(from)} as snapshots, turned back into chunks; ${plural(base, "character was", "characters were")} written before.`
    : "The values so far as snapshots, turned back into chunks.";
  const list = make("ol");
  for (const { n, text, length, conflict } of chunks) {
    const entry = makeEntry(n, conflict ? "conflict" : length ? `+${count(length)}` : "–", conflict ?? text, now);
    if (conflict) entry.classList.add("Error");
    list.append(entry);
  }
  const element = byId("chunks");
  fitNumbers(element, chunks.at(-1)?.n ?? 0);
  element.replaceChildren(make("p", "note", note), list);
  element.scrollTop = element.scrollHeight;
}

/** Draw what was mended, or how to have it mended. */
export function drawRepairs({ repairs, error }, isMended) {
  const element = byId("repairs");
  const none = isMended
    ? "Nothing had to be mended so far."
    : `The text is read as strict JSON. ${error ? "It is not: “Read as…” can mend it and report every repair." : "“Read as…” can mend it, if it is bad."}`;
  element.replaceChildren(
    repairs.length ? make("p", "note", plural(repairs.length, "repair")) : make("p", "note", none),
    ...repairs.map(({ kind, index, was, became, lossy }) =>
      make(
        "div",
        "repair",
        make("span", "soft", count(index)),
        make("span", "", kind, lossy ? " (lossy)" : ""),
        make("code", "", make("del", "", visible(was)), " ", make("ins", "", visible(became))),
      ),
    ),
  );
}

/** Draw what the schema shows. */
export function drawSchema(view, hasSchema) {
  const element = byId("schema");
  if (!view) {
    const note = hasSchema ? "Nothing to look at yet." : "No schema: “Read as…” takes a JSON Schema, and shows what it lets through; {} reads any answer that is JSON.";
    element.replaceChildren(make("p", "note", note));
    return;
  }
  const { status, value, errors } = view;
  const tone = { final: "good", mismatch: "bad" }[status] ?? "";
  const list = make("ul", "wrong-list", ...errors.map((error) => make("li", "", error)));
  element.replaceChildren(make("div", "status-line", make("span", `pill ${tone}`, status)), list, make("pre", "", pretty(value)));
}

function pretty(text) {
  if (text === null) return "";
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text; // too long to be whole
  }
}
