/** The message of a model and its parts, as they are at this moment. */

import { byId, make } from "./dom.js";
import { count } from "./format.js";

/** Draw the message; return what scrolls to its end, if the reader was there. */
export function drawMessage({ message, kind }) {
  const element = byId("message");
  if (!message) {
    element.replaceChildren(make("p", "note", kind === "unknown" ? "Nothing yet." : "This stream is no message of a model."));
    return undefined;
  }
  const isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < 40;
  const facts = [message.outcome, message.provider, message.model, message.finish_reason].filter(Boolean);
  const usage = Object.entries(message.usage ?? {}).map(([name, number]) => `${count(number)} ${name}`);
  element.replaceChildren(
    make("p", "facts-list", ...[...facts, ...usage].map((fact) => make("span", "", fact))),
    ...message.errors.map((error) => make("p", "error", error)),
    ...message.parts.map(drawPart),
  );
  return () => isAtEnd && (element.scrollTop = element.scrollHeight);
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
