/**
 * The page: what the server knows grows here through `jsontide.js`, and each moment is asked for when it is looked at.
 *
 *     follow     sessions, lanes, pulse: one growing value
 *     player     which moment is shown
 *     timeline, tree, raw, lists, message, node     draw it
 */

import { byId, make, showText } from "./dom.js";
import { startDrop } from "./drop.js";
import { bytes, count, plural, seconds } from "./format.js";
import { connect } from "./jsontide.js";
import { drawChunks, drawEvents, drawRepairs, drawSchema } from "./lists.js";
import { drawMessage } from "./message.js";
import { drawNode } from "./node.js";
import { PasteDialog } from "./paste.js";
import { Player } from "./player.js";
import { drawRaw } from "./raw.js";
import { ReadDialog } from "./reading.js";
import { address, ask, options, post } from "./server.js";
import { startTheme } from "./theme.js";
import { Timeline } from "./timeline.js";
import { Tree } from "./tree.js";

const GOOD = new Set(["complete", "over"]);
const FIT = 10; // seconds
const PLACE = "jsontide-studio-place";
const CALM = new Set(["streaming", "live", "loading"]);

/** What the reader chose. */
const chosen = { session: undefined, compare: undefined, unfolded: new Map(), node: undefined, isFollowing: true };
let summary;
let followed;
let late = 0; // the views that cost more are asked for when the reader rests

const player = new Player({
  fetch: (target) =>
    chosen.session && ask("moment", { session: chosen.session, compare: chosen.compare?.n, unfolded: [...chosen.unfolded.values()], ...target }),
  onView: draw,
  onFail: (error) => notify(error.message),
  onPlaying: (isPlaying) => {
    byId("play").classList.toggle("playing", isPlaying);
    byId("play").ariaLabel = isPlaying ? "Pause" : "Play";
  },
});

const timeline = new Timeline({
  onMove: (target) => {
    player.pause();
    goTo(target);
  },
  onRelease: () => drawLate(),
});

const tree = new Tree({
  onSelect: (path) => select(path),
  onUnfold: (path, first) => {
    chosen.unfolded.set(JSON.stringify(path), [path, first]);
    refresh();
  },
});

/* Moments */

/** Show a moment; whoever goes to the end of a live stream follows it. */
function goTo(target) {
  chosen.isFollowing = target.n !== undefined && target.n >= (summary?.count ?? 0);
  return player.go(target);
}

function step(by) {
  chosen.isFollowing = false;
  return player.step(by, summary.count);
}

function togglePlay() {
  if (player.isPlaying) return player.pause();
  chosen.isFollowing = false;
  const { value } = byId("speed");
  player.play(summary, value === "fit" ? summary.seconds / FIT : +value);
}

/** Ask for the same moment again, because something else about it is wanted. */
function refresh() {
  player.forget();
  return player.go({ n: player.view?.n ?? summary?.count ?? 0 });
}

function draw(view) {
  if (!chosen.side && view.kind !== "unknown") {
    document.body.dataset.side = view.message || view.run ? "message" : "chunks"; // until the reader chooses
    markTabs();
  }
  const scrolls = [drawMessage(view), timeline.drawCursor(view, chosen.compare), drawEvents(view), tree.draw(view), drawRaw(view)];
  drawPlace(view);
  showText(byId("error"), view.error);
  drawRepairs(view, summary.mend);
  drawComparison(view.compare);
  byId("live").setAttribute("aria-pressed", chosen.isFollowing);
  sessionStorage.setItem(PLACE, `${chosen.session}/${view.n}`); // for a reload
  for (const scroll of scrolls) scroll?.(); // when all is written, so that the page is laid out once
  clearTimeout(late);
  late = setTimeout(drawLate, 120);
}

/** Say which moment it is, and how the stream stood then. */
function drawPlace({ n, at, outcome }) {
  const time = summary.timed ? ["  ·  ", make("b", "", seconds(at)), ` of ${seconds(summary.seconds)}`] : [];
  byId("moment").replaceChildren(make("b", "", count(n)), ` of ${count(summary.count)}`, ...time);
  const isLast = n >= summary.count;
  const word = isLast && CALM.has(summary.state) ? summary.state : outcome;
  const pill = byId("outcome");
  showText(pill, word);
  pill.className = `pill ${GOOD.has(word) ? "good" : CALM.has(word) ? "" : "bad"}`;
  for (const id of ["back", "first"]) byId(id).disabled = n === 0;
  for (const id of ["forward", "last"]) byId(id).disabled = isLast;
}

/** What costs more, or is not seen: the chunks, the schema, the parts of the chosen value. */
async function drawLate() {
  const { view } = player;
  if (!view) return;
  const asked = { session: chosen.session, n: view.n };
  const isShown = (id) => byId(id).offsetParent !== null;
  try {
    if (isShown("chunks")) drawChunks(await ask("chunks", asked), view.n);
    if (isShown("schema")) drawSchema(summary.schema ? await ask("schema", asked) : null, summary.schema);
    if (chosen.node) drawNode(await ask("node", { ...asked, path: chosen.node }).catch(() => null), view.n, () => select());
  } catch (error) {
    notify(error.message);
  }
}

/* Comparing two moments, and looking at one value */

function toggleCompare() {
  chosen.compare = chosen.compare || !player.view ? undefined : { n: player.view.n, at: player.view.at };
  byId("compare").setAttribute("aria-pressed", Boolean(chosen.compare));
  refresh();
}

function drawComparison(compare) {
  const element = byId("compared");
  element.hidden = !compare;
  if (!compare) return;
  element.replaceChildren(
    make("span", "", `since ${count(compare.n)}:`),
    make("span", "", `${plural(compare.same, "object")} kept`),
    make("span", "changed", `${count(compare.changed)} changed`),
    make("span", "new", `${count(compare.new)} new`),
  );
}

function select(path) {
  chosen.node = path;
  tree.selected = path && JSON.stringify(path);
  if (!path) drawNode();
  if (player.view) tree.draw(player.view)();
  drawLate();
}

/* Sessions */

function open(session, n) {
  if (session === chosen.session) return;
  player.pause();
  Object.assign(chosen, { session, compare: undefined, node: undefined, isFollowing: n === undefined, wanted: n });
  chosen.unfolded.clear();
  drawNode();
  said = {};
  byId("compare").setAttribute("aria-pressed", "false");
  follow();
}

/** Follow what grows on the server. */
function follow() {
  player.forget();
  const before = followed;
  const query = chosen.session ? `?session=${chosen.session}` : "";
  const stream = connect(`follow${query}`, {
    ...options,
    retries: 1000,
    maxRetryDelay: 3000,
    onChange: ({ value, status }) => followed === stream && value && update(value, status),
    onEnd: ({ error }) => followed === stream && error && notify(error.message),
  });
  followed = stream;
  before?.stop();
}

let drawn = {};

function update({ sessions, lanes, pulse, listens, proxy }, status) {
  if (status === "retrying") return notify("The studio does not answer; trying again.", true);
  if (said.isCalm) notify();
  showCommands(listens, proxy);
  listSessions(sessions);
  const newest = sessions.at(-1);
  if (newest && newest.state === "live" && newest.id !== drawn.newest && chosen.isFollowing) {
    drawn.newest = newest.id;
    if (newest.id !== chosen.session) return open(newest.id);
  }
  summary = sessions.find(({ id }) => id === chosen.session);
  if (!summary) return newest ? open(newest.id) : undefined;
  document.body.classList.remove("empty");
  drawFacts();
  if (drawn.lanes !== lanes || drawn.pulse !== pulse || drawn.summary !== summary) timeline.drawAll(summary, lanes, pulse);
  drawn = { ...drawn, lanes, pulse, summary };
  if (CALM.has(summary.state)) player.forget(); // more may follow a moment than was seen
  if (chosen.wanted !== undefined && summary.count >= chosen.wanted) {
    player.go({ n: chosen.wanted });
    chosen.wanted = undefined;
  } else if (chosen.isFollowing && chosen.wanted === undefined) {
    player.go({ n: summary.count });
  } else if (player.view) {
    player.forget();
    drawPlace(player.view);
    timeline.drawCursor(player.view, chosen.compare)();
  }
}

function listSessions(sessions) {
  const select = byId("session");
  if (drawn.sessions === sessions && select.value === chosen.session) return;
  drawn.sessions = sessions;
  select.hidden = !sessions.length;
  const names = sessions.map(({ id, name }) => Object.assign(make("option", "", name), { value: id, selected: id === chosen.session }));
  select.replaceChildren(...names);
}

function drawFacts() {
  const { kind, count: last, expected, seconds: time, timed, bytes: size, state, id } = summary;
  const share = state === "loading" && expected ? ` (${Math.floor((100 * last) / expected)} % loaded)` : "";
  byId("facts").textContent = [kind, plural(last, "moment") + share, bytes(size), timed ? seconds(time) : "no times"].join("  ·  ");
  showNotice();
  const isThere = state === "over" || state === "broken";
  byId("read").hidden = state !== "over";
  byId("save").hidden = !isThere;
  byId("save").href = address("recording", { session: id });
  byId("live").hidden = state !== "live";
  markAxis();
}

/** Say how streams come here live. */
function showCommands(listens, proxy) {
  byId("listening").hidden = !listens && !proxy;
  const commands = [];
  if (listens) commands.push(`curl -N … | curl -T - '${location.origin}/${address("listen")}'`);
  if (proxy) commands.push(`# a client whose base URL is\n${proxy}`);
  byId("command").textContent = commands.join("\n");
}

/* What went wrong */

let said = {}; // by a request, until another stream is opened

function notify(text, isCalm = false) {
  said = { text, isCalm };
  showNotice();
}

function showNotice() {
  showText(byId("notice"), said.text ?? summary?.problem);
  byId("notice").classList.toggle("calm", Boolean(said.isCalm));
}

async function start(make) {
  try {
    const { session } = await make();
    drawn.newest = session;
    chosen.session = undefined;
    open(session);
    byId("track").focus({ focusVisible: false });
  } catch (error) {
    notify(error.message);
  }
}

const upload = (file) => start(() => post(`sessions?${new URLSearchParams({ name: file.name })}`, file));

/* Controls */

const paste = new PasteDialog({
  onRun: (pieces, mend) => start(() => post("paste", JSON.stringify({ pieces, mend }))),
});
const reading = new ReadDialog({
  onRun: async (choices) => {
    const answer = await post("reading", JSON.stringify({ session: chosen.session, ...choices }));
    await start(async () => answer);
  },
});

const does = {
  first: () => goTo({ n: 0 }),
  back: () => step(-1),
  play: togglePlay,
  forward: () => step(1),
  last: () => goTo({ n: summary.count }),
  live: () => goTo({ n: summary.count }),
  compare: toggleCompare,
  open: () => byId("file").click(),
  paste: () => paste.open(),
  read: () => reading.open(summary),
  "by-time": () => chooseAxis("time"),
  "by-piece": () => chooseAxis("pieces"),
};
for (const [id, action] of Object.entries(does)) byId(id).addEventListener("click", action);
for (const button of document.querySelectorAll("[data-does]")) button.addEventListener("click", () => does[button.dataset.does]());
for (const id of ["events", "chunks", "node", "raw"])
  byId(id).addEventListener("click", ({ target }) => {
    const { n } = target.closest("[data-n]")?.dataset ?? {};
    if (n) goTo({ n: +n });
  });

function chooseAxis(axis) {
  timeline.axis = axis;
  markAxis();
  if (!drawn.lanes) return;
  timeline.drawAll(summary, drawn.lanes, drawn.pulse);
  if (player.view) timeline.drawCursor(player.view, chosen.compare)();
}

/** Mark what is drawn from left to right; a stream without times has only its pieces. */
function markAxis() {
  const byTime = timeline.axis === "time" && summary.timed;
  byId("by-time").disabled = !summary.timed;
  byId("by-time").setAttribute("aria-pressed", byTime);
  byId("by-piece").setAttribute("aria-pressed", !byTime);
}

const phone = matchMedia("(max-width: 900px)");

/** Show a panel: on a phone as the only one, else one of the last four beside the others. */
function chooseView(name) {
  const { dataset } = document.body;
  dataset.phone = name;
  if (!["tree", "raw", "events"].includes(name)) dataset.side = name;
  markTabs();
  if (player.view) draw(player.view); // what is in sight is scrolled to
}

function markTabs() {
  const { dataset } = document.body;
  for (const tab of document.querySelectorAll("[data-view]"))
    tab.setAttribute("aria-selected", tab.dataset.view === (phone.matches ? dataset.phone : dataset.side));
}
for (const tab of document.querySelectorAll("[data-view]"))
  tab.addEventListener("click", () => {
    chosen.side = tab.dataset.view;
    chooseView(tab.dataset.view);
  });
phone.addEventListener("change", markTabs);
addEventListener("resize", () => drawn.lanes && timeline.drawAll(summary, drawn.lanes, drawn.pulse));

byId("speed").addEventListener("change", () => {
  if (!player.isPlaying) return;
  player.pause();
  togglePlay();
});
byId("session").addEventListener("change", ({ target }) => open(target.value));
byId("file").addEventListener("change", ({ target }) => {
  if (target.files[0]) upload(target.files[0]);
  target.value = "";
});

const KEYS = {
  ArrowLeft: ({ shiftKey }) => step(shiftKey ? -10 : -1),
  ArrowRight: ({ shiftKey }) => step(shiftKey ? 10 : 1),
  Home: does.first,
  End: does.last,
  " ": togglePlay,
  c: toggleCompare,
  Escape: () => (chosen.node ? select() : chosen.compare && toggleCompare()),
};
addEventListener("keydown", (event) => {
  const isIn = (selector) => event.target instanceof Element && event.target.closest(selector);
  const isTyping = isIn("textarea, input, select, dialog");
  const isPressed = event.key === " " && isIn("button, a");
  const action = KEYS[event.key];
  if (!action || isTyping || isPressed || !summary || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  action(event);
});

startTheme(byId("theme"));
startDrop(byId("drop"), upload);
const [session, n] = sessionStorage.getItem(PLACE)?.split("/") ?? [];
markTabs();
if (session) Object.assign(chosen, { session, isFollowing: false, wanted: +n || 0 });
follow();
