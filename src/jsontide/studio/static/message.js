/** The message of a model and its parts, or the steps of a run with the results of its calls, as they are at this moment. */

import { byId, make } from "./dom.js";
import { count, plural } from "./format.js";

/** Draw the message or the run; return what scrolls to its end, if the reader was there. */
export function drawMessage({ message, run, kind }) {
  const element = byId("message");
  if (!message && !run) {
    element.replaceChildren(make("p", "note", kind === "unknown" ? "Nothing yet." : "This stream is no message of a model."));
    return undefined;
  }
  const isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < 40;
  element.replaceChildren(...(run ? drawRun(run) : drawFields(message)));
  return () => isAtEnd && (element.scrollTop = element.scrollHeight);
}

function drawFields(message) {
  const facts = [message.outcome, message.provider, message.model, message.finish_reason].filter(Boolean);
  return [drawFacts(facts, message.usage), ...message.errors.map((error) => make("p", "error", error)), ...message.parts.map(drawPart)];
}

function drawFacts(facts, usage) {
  const counts = Object.entries(usage ?? {}).map(([name, number]) => `${count(number)} ${name}`);
  return make("p", "facts-list", ...[...facts, ...counts].map((fact) => make("span", "", fact)));
}

function drawRun({ outcome, usage, error, steps, hidden }) {
  const drawn = [drawFacts([outcome, plural(steps.length + hidden, "step")], usage)];
  if (error) drawn.push(make("p", "error", error));
  if (hidden) drawn.push(make("p", "note", `${plural(hidden, "step")} before these`));
  return [...drawn, ...steps.map(drawStep)];
}

/** A step; its calls are shown by their results, once there are any. */
function drawStep({ n, message, results, hidden }) {
  const step = make("section", "step", make("h2", "", `Step ${n}`), ...drawFields(message));
  if (hidden) step.append(make("p", "note", `${plural(hidden, "result")} before these`));
  step.append(...results.map(drawResult));
  return step;
}

function drawResult({ name, arguments: given, status, tone, steps, text, length }) {
  const words = steps ? `${status}, a run of ${plural(steps, "step")}` : status;
  const title = make("h3", "", make("code", "", name ?? "tool"), " ", make("span", `pill ${tone}`, words));
  const shown = (length ? "… " : "") + text;
  return make("section", `part result ${tone}`, title, make("p", "given", given), ...(text ? [make("pre", "", shown)] : []));
}

function drawPart({ type, open, text, length, name, status, partial }) {
  const part = make("section", `part ${type.replace(" ", "-")}`);
  part.classList.toggle("open", open);
  const title = make("h3", "", type, " ");
  if (name) title.append(make("code", "", name), " ");
  if (status) title.append(status);
  const shown = (length ? "… " : "") + text;
  const body = make(name || partial ? "pre" : "p", "", shown);
  if (open) body.append(make("i", "caret"));
  part.append(title, body);
  return part;
}
