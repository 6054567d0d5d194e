/** The value that was clicked: when it appeared, when each part of it came, when it was finished. */

import { byId, draw, make } from "./dom.js";
import { count, plural, seconds, visible } from "./format.js";
import { fitNumbers, makeEntry } from "./lists.js";

export function drawNode(node, now, close) {
  const element = byId("node");
  element.hidden = !node;
  if (!node) return;
  const button = make("button", "icon", "×");
  button.ariaLabel = "Close";
  button.addEventListener("click", close);
  const list = make("ol", "");
  fitNumbers(list, node.parts.at(-1)?.n ?? 0);
  for (const { n, at, text, place } of node.parts) {
    const entry = makeEntry(n, seconds(at), text, now);
    entry.title = `part ${count(place + 1)} of ${count(node.total)}`;
    entry.classList.toggle("later", n > now);
    list.append(entry);
  }
  element.replaceChildren(
    make("header", "", make("code", "", node.name), make("span", "soft", node.kind), make("span", "space"), button),
    make("div", "times soft", ...times(node)),
    drawParts(node),
    list,
  );
  const current = [...list.children].findLast((entry) => +entry.dataset.n <= now);
  if (current) list.scrollTop = current.offsetTop - list.offsetTop - list.clientHeight / 2;
}

function times({ born, finished, silence, total, kind }) {
  const what = kind === "string" ? "piece" : "part";
  const facts = [link("appeared", born), finished ? link("finished", finished) : "still open", plural(total, what)];
  if (silence) facts.push(link(`silent for ${seconds(silence.seconds)} before`, { n: silence.to }));
  return facts;
}

function link(text, { n, at }) {
  const button = make("button", "link", at === undefined ? `moment ${count(n)}` : `${seconds(at)}, moment ${count(n)}`);
  button.dataset.n = n;
  return make("span", "", `${text} `, button);
}

/** A line of time from its first moment to its last, with a mark for each part that is listed. */
function drawParts({ parts, born, finished }) {
  const svg = draw("svg", { "aria-hidden": "true" });
  const last = finished ?? parts.at(-1) ?? born;
  const byTime = last.at > born.at;
  const [start, end] = byTime ? [born.at, last.at] : [born.n, Math.max(last.n, born.n + 1)];
  svg.append(draw("rect", { class: "base", x: 0, y: 7, width: "100%", height: 2 }));
  for (const part of parts)
    svg.append(draw("rect", { x: `${(100 * ((byTime ? part.at : part.n) - start)) / (end - start)}%`, y: 2, width: 1.5, height: 12 }));
  return svg;
}
