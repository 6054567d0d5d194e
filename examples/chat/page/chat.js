/**
 * The page: asks questions, and shows the answers while they grow.
 *
 * `connect` gives a new snapshot after each change. Whatever did not change in it is the same object as before, so one
 * comparison tells what is to be drawn again (see `Turn.show`): what is finished never is.
 */
import { connect, isFinished } from "/jsontide.js";

const OVER = { ended: "", stopped: "Stopped", none: "Gone", lost: "Connection lost", failed: "Failed" };
const OUTCOMES = {
  complete: "Complete",
  waiting: "Waiting for you",
  cancelled: "Stopped",
  truncated: "Cut off",
  failed: "Failed",
};
/** What is said of a call; none is run that is not complete, or that nobody allowed where somebody must. */
const STATUSES = { waiting: "may it run?", done: "done", not_run: "not run" };

/** One question and its answer. */
class Turn {
  /** @param {string} question */
  constructor(question) {
    this.element = make(document.getElementById("log"), "article", "turn");
    make(this.element, "p", "question").textContent = question;
    this.body = make(this.element, "div", "answer");
    this.parts = make(this.body, "div", "parts");
    this.plan = make(this.body, "div", "plans");
    this.end = make(this.body, "footer", "end");
    this.fields = new Map(); // what shows each path: { element, value, isOpen }
    this.draw({ status: "connecting" });
  }

  /** Follow the answer: from the response to the question, or from the URL where it is joined again. */
  follow(run, source) {
    this.run = run;
    this.stopUrl = `/turns/${run}/stop`;
    const stream = connect(source, { resumeUrl: `/turns/${run}`, retries: 30, retryDelay: 300, maxRetryDelay: 2000 });
    let isDue = false;
    stream.subscribe(() => {
      if (!isDue) requestAnimationFrame(() => ((isDue = false), this.draw(stream.getSnapshot())));
      isDue = true; // however much comes before the next frame
    });
    this.leave = stream.stop;
    if (this.mustStop) this.stop();
  }

  /** Stop the answer; the server tells how it ended, so reading goes on. */
  async stop() {
    this.mustStop = true; // as soon as its name is known
    if (this.stopUrl) await fetch(this.stopUrl, { method: "POST", keepalive: true }).catch(() => this.leave());
  }

  /** Decide about a call; when all that wait are decided, the server goes on from the run that it has saved. */
  async decide(call, isAllowed) {
    this.decisions = { ...this.decisions, [call]: isAllowed };
    const steps = this.snapshot.value.steps;
    const waiting = steps.at(-1).results.filter(({ status }) => status === "waiting");
    this.element.querySelectorAll(".decision").forEach((each) => each.remove());
    if (Object.keys(this.decisions).length < waiting.length) return this.draw(this.snapshot);
    const response = await post(`/turns/${this.run}/decisions`, this.decisions).catch((error) => ({ error }));
    this.decisions = {};
    if (!response.ok) return this.draw({ ...this.snapshot, status: "failed", error: response.error ?? refused(response) });
    const run = response.headers.get("x-run-id");
    saved.turns.find((turn) => turn.run === this.run).run = run;
    sessionStorage.setItem("chat", JSON.stringify(saved));
    this.follow(run, response);
  }

  /** Draw what is new. */
  draw(snapshot) {
    const wasAtEnd = innerHeight + scrollY > document.documentElement.scrollHeight - 60;
    this.snapshot = snapshot;
    this.isLive = !(snapshot.status in OVER);
    drawSteps(this, this.parts, snapshot.value, []);
    snapshot.value?.steps.forEach(({ message }, at) =>
      this.show(this.plan, "section", ["steps", at, "message", "answer"], message?.answer, drawPlan),
    );
    this.element.querySelector(".caret")?.classList.remove("caret");
    if (this.isLive) this.fields.get(JSON.stringify(snapshot.cursor))?.element.classList.add("caret");
    drawEnd(this, snapshot);
    if (wasAtEnd) scrollTo(0, document.documentElement.scrollHeight);
    showButtons();
  }

  /** Show a value in an element of its own, unless that is what the element shows already. */
  show(parent, tag, path, value, draw = drawText) {
    if (value === undefined) return;
    const key = JSON.stringify(path);
    if (!this.fields.has(key)) this.fields.set(key, { element: make(parent, tag) });
    const field = this.fields.get(key);
    const isOpen = this.isOpen(path);
    if (field.value === value && field.isOpen === isOpen) return;
    const { element } = field;
    element.classList.toggle("open", isOpen);
    Object.assign(element.dataset, { path: key, name: path.at(-1) });
    element.dataset.renders = Number(element.dataset.renders ?? 0) + 1; // for tests, and for the curious
    draw(element, value, { turn: this, path, before: field.value });
    Object.assign(field, { value, isOpen });
  }

  /** Return whether the value at a path may still change. */
  isOpen(path) {
    return this.isLive && path.at(-1) !== "#name" && !isFinished(this.snapshot, path);
  }

  /** Return whether the value at a path is being written now. */
  isWritten(path) {
    return this.isLive && path.every((segment, at) => this.snapshot.cursor[at] === segment);
  }
}

function make(parent, tag, className = "") {
  const element = document.createElement(tag);
  element.className = className;
  parent.append(element);
  return element;
}

/** Draw text; what is there stays as it is, and so does a selection in it. */
function drawText(element, value, { before }) {
  if (typeof before === "string" && value.startsWith(before)) element.firstChild.appendData(value.slice(before.length));
  else element.replaceChildren(document.createTextNode(value));
}

/** Draw the steps of a run: each message, and what its calls gave. */
function drawSteps(turn, parent, run, path) {
  run?.steps.forEach(({ message, results = [] }, step) =>
    message?.parts.forEach((part, at) => {
      const result = results.findIndex((one) => one.part === at);
      const where = [...path, "steps", step];
      drawPart(turn, parent, part, [...where, "message", "parts", at], results[result], [...where, "results", result]);
    }),
  );
}

function drawPart(turn, parent, part, path, result, resultPath) {
  if (part.type === "call") {
    turn.show(parent, "section", path, part, drawCall);
    const { element } = turn.fields.get(JSON.stringify(path));
    turn.show(element.firstChild, "span", [...path, "status"], describeCall(turn, part, path, result), drawStatus);
    turn.show(element, "div", resultPath, result, drawResult);
    drawDecision(turn, element, part, result);
  } else if (part.type === "reasoning") {
    turn.show(parent, "details", path, part, drawReasoning);
  } else if (part.text) {
    turn.show(parent, "div", path, part, drawProse);
  }
}

/** Draw what a call gave: the steps of a tool that is an agent, and then what it gave, or why it gave nothing. */
function drawResult(element, result, { turn, path, before }) {
  if (!before) {
    element.classList.add("result");
    make(element, "div", "inside");
    make(element, "p");
  }
  drawSteps(turn, element.firstChild, result.run, [...path, "run"]);
  const { output, error, progress } = result;
  const said = error ?? (result.run && output !== undefined ? "" : output ?? progress);
  element.lastChild.textContent = said === undefined || typeof said === "string" ? (said ?? "") : JSON.stringify(said);
}

/** Ask about a call that waits, when all others are done. */
function drawDecision(turn, element, part, result) {
  const isAsked = result?.status === "waiting" && turn.snapshot.end?.end === "waiting";
  const asking = element.querySelector(":scope > .decision");
  if (!isAsked) asking?.remove();
  if (!isAsked || asking) return;
  const buttons = make(element, "div", "decision");
  for (const [label, isAllowed] of [["Allow", true], ["Refuse", false]]) {
    const button = make(buttons, "button");
    button.type = "button";
    button.textContent = label;
    button.addEventListener("click", () => turn.decide(part.id, isAllowed));
  }
}

function drawReasoning(element, part, { turn, path, before }) {
  if (!before) {
    element.open = true;
    element.classList.add("reasoning");
    make(element, "summary");
  }
  element.firstChild.textContent = turn.isOpen(path) ? "Thinking" : "Thought";
  turn.show(element, "p", [...path, "text"], part.text);
}

function drawProse(element, part, { turn, path }) {
  element.classList.add("prose");
  turn.show(element, "p", [...path, "text"], part.text);
}

/** Draw a call: its name, and its arguments as far as they are known. */
function drawCall(element, part, { turn, path, before }) {
  if (!before) {
    element.classList.add("call");
    make(make(element, "h3"), "code");
    make(element, "dl");
  }
  element.querySelector("code").textContent = part.name ?? "…";
  drawMembers(element.lastChild, part.arguments, { turn, path: [...path, "arguments"] });
}

/** Draw the members of an object as terms and what they are. */
function drawMembers(element, value, { turn, path }) {
  for (const [name, member] of Object.entries(value ?? {})) {
    const at = [...path, name];
    const isObject = typeof member === "object" && member !== null;
    turn.show(element, "dt", [...at, "#name"], name);
    turn.show(element, "dd", at, isObject ? member : String(member), isObject ? drawNested : drawText);
  }
}

function drawNested(element, value, { turn, path }) {
  drawMembers(element.firstChild ?? make(element, "dl"), value, { turn, path });
}

/** Return how a call stands: only one that is complete is ever run. */
function describeCall(turn, part, path, result) {
  if (result && result.status !== "queued") return STATUSES[result.status] ?? result.status;
  if (part.status === "complete") return "waiting";
  if (part.status !== "streaming") return "not run";
  if (!turn.isLive) return "unknown";
  return turn.isWritten(path) ? "writing" : "waiting";
}

function drawStatus(element, value) {
  element.className = `status ${value.replace(/\W+/g, "-")}`;
  element.textContent = value;
}

/** Draw the answer; each field appears when it begins, and is left alone when it is finished. */
function drawPlan(element, plan, { turn, path }) {
  element.classList.add("plan");
  const show = (parent, tag, name, draw) => turn.show(parent, tag, [...path, name], plan[name], draw);
  show(element, "h2", "title");
  show(element, "p", "summary");
  show(element, "ol", "days", drawItems(drawDay));
  show(element, "p", "budget", drawBudget);
  show(element, "ul", "tips", drawItems(drawText));
}

function drawDay(element, day, { turn, path }) {
  turn.show(element, "h3", [...path, "title"], day.title);
  turn.show(element, "ol", [...path, "stops"], day.stops, drawItems(drawStop));
}

function drawStop(element, stop, { turn, path }) {
  for (const name of ["time", "place", "note"]) turn.show(element, "span", [...path, name], stop[name]);
}

function drawBudget(element, budget, { turn, path }) {
  for (const name of ["currency", "low", "high", "covers"])
    turn.show(element, "span", [...path, name], budget[name] === undefined ? undefined : String(budget[name]));
}

/** Return what draws a list, given what draws an item. */
function drawItems(drawItem) {
  return (element, items, { turn, path }) =>
    items.forEach((item, at) => turn.show(element, "li", [...path, at], item, drawItem));
}

const count = (number) => number?.toLocaleString("en") ?? "?";

/** Draw how the answer stands, what it cost, and what went wrong. */
function drawEnd(turn, { status, value, end, error }) {
  const outcome = OVER[status] || OUTCOMES[end?.end] || end?.end;
  const word = outcome ?? (status === "retrying" ? "Reconnecting" : "Writing");
  const isComplete = end?.end === "complete";
  const { usage, steps = [] } = value ?? {};
  const model = steps.at(-1)?.message?.model;
  const cost = `${count(usage?.input_tokens)} tokens read, ${count(usage?.output_tokens)} written`;
  const reasons = [error?.message, word === "Stopped" ? "" : end?.reason].filter(Boolean);
  if (status === "none" || error?.status === 204) reasons[0] = "the server does not keep this answer any more";
  turn.element.dataset.outcome = outcome ? (end?.end ?? status) : "";
  turn.element.setAttribute("aria-busy", String(turn.isLive));
  const facts = [word, ...(isComplete ? [cost, model] : []), ...(turn.isLive ? [] : reasons)];
  const shown = JSON.stringify(facts);
  if (turn.end.dataset.shown === shown) return;
  turn.end.dataset.shown = shown;
  turn.end.className = `end ${turn.isLive ? "open" : ""} ${reasons.length && !turn.isLive ? "wrong" : ""}`;
  turn.end.replaceChildren();
  for (const fact of facts.filter(Boolean)) make(turn.end, "span").textContent = fact;
  if (outcome) document.getElementById("announcer").textContent = `${outcome}.`;
}

/* The conversation: what a reload needs is which turn answers which question. */

const [form, question, send, stop] = ["ask", "question", "send", "stop"].map((id) => document.getElementById(id));
const saved = JSON.parse(sessionStorage.getItem("chat")) ?? { id: makeId(), turns: [] };
const turns = [];

function makeId() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function addTurn(text) {
  document.getElementById("welcome").hidden = true;
  turns.push(new Turn(text));
  return turns.at(-1);
}

const refused = (response) => new Error(`the server answered ${response.status}`);

function post(url, value) {
  return fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(value) });
}

async function ask(text) {
  const turn = addTurn(text);
  scrollTo(0, document.documentElement.scrollHeight);
  showButtons();
  try {
    const response = await post("/turns", { chat: saved.id, text });
    if (!response.ok) throw refused(response);
    const run = response.headers.get("x-run-id");
    saved.turns.push({ question: text, run });
    sessionStorage.setItem("chat", JSON.stringify(saved));
    turn.follow(run, response);
  } catch (error) {
    turn.draw({ status: "failed", error });
    question.value ||= text;
  }
}

function showButtons() {
  const isBusy = turns.some((turn) => turn.isLive);
  if (isBusy === send.hidden) return;
  const hadFocus = [send, stop].includes(document.activeElement);
  [send.hidden, stop.hidden] = [isBusy, !isBusy];
  if (hadFocus) (isBusy ? stop : question).focus();
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const text = question.value.trim();
  if (!text || send.hidden) return;
  question.value = "";
  ask(text);
});
question.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
});
const stopAll = () => turns.filter((turn) => turn.isLive).forEach((turn) => turn.stop());
stop.addEventListener("click", stopAll);
addEventListener("keydown", (event) => event.key === "Escape" && stopAll());
document.querySelector(".suggestion").addEventListener("click", (event) => ask(event.target.textContent));
document.getElementById("fresh").addEventListener("click", () => {
  stopAll();
  sessionStorage.removeItem("chat");
  location.reload();
});

for (const { question, run } of saved.turns) addTurn(question).follow(run, `/turns/${run}`);
