// What jsontide.js makes of streams that Python wrote, compared with what Python has. For Node and for browsers.
import { apply, connect, empty, events, finished, isFinished } from "../../src/jsontide/web/static/jsontide.js";
import { follow } from "./connect.mjs";

const prototype = describePrototypes();

/** Return what a check finds wrong, or the log of `follow`. */
export const answer = (kind, given) => (kind === "follow" ? follow(given) : check(kind, given));

/** Return what is wrong, as a list of sentences. */
async function check(kind, given) {
  const wrong = await CHECKS[kind](given);
  if (describePrototypes() !== prototype) wrong.push("a prototype was changed");
  return wrong;
}

const CHECKS = { states: checkStates, refusals: checkRefusals, joins: checkJoins, cuts: checkCuts, sources: checkSources };

/** Every state of a stream: its value, what is finished, which objects were kept. */
async function checkStates({ bytes, cuts, steps, end, isExact = true }) {
  const { read, parses } = await readCounted(cut(bytes, cuts));
  const wrong = parses === read.length ? [] : [`${read.length} events were parsed ${parses} times`];
  let state = empty;
  const states = steps.map(({ count }) => {
    for (const event of read.splice(0, count)) state = apply(freeze(state), freeze(event));
    return state;
  });
  if (read.length) wrong.push("there are more events than were written");
  if (!equal(state.end ?? null, end)) wrong.push(`the end is ${JSON.stringify(state.end)}`);
  let before = { state: empty, step: { growing: [] } };
  states.forEach((state, at) => {
    const now = { state, step: steps[at] };
    wrong.push(...[...checkState(now), ...checkKept(before, now, isExact)].map((what) => `step ${at}: ${what}`));
    before = now;
  });
  return wrong;
}

function* checkState({ state, step }) {
  if (!equal(state.value, step.value)) yield `the value is ${JSON.stringify(state.value)}`;
  const growing = new Set(step.growing.map((path) => JSON.stringify(path)));
  for (const path of state.value === undefined ? [] : pathsOf(state.value))
    if (isFinished(state, path) === growing.has(JSON.stringify(path))) yield `${JSON.stringify(path)} is finished, or not`;
  if (isFinished(state, ["no such key", 0])) yield "what is not there is finished";
}

function* checkKept(before, now, isExact) {
  for (const path of now.step.kept)
    if (at(before.state.value, path) !== at(now.state.value, path)) yield `${JSON.stringify(path)} is another object`;
  if (!isExact) return;
  const wanted = [];
  for (const path of now.state.value === undefined ? [] : pathsOf(now.state.value)) {
    const [old, value] = [at(before.state.value, path), at(now.state.value, path)];
    if ((old === value) !== equal(old, value)) yield `${JSON.stringify(path)} is the same object, or not, wrongly`;
    const isKnown = isFinished(before.state, path) && equal(old, value);
    if (isFinished(now.state, path) && !isKnown) wanted.push(path);
  }
  const told = finished(before.state, now.state);
  if (told.some(({ path, value }) => at(now.state.value, path) !== value)) yield "a finished value is another one";
  const paths = told.map(({ path }) => JSON.stringify(path));
  if (paths.toSorted().join() !== wanted.map((path) => JSON.stringify(path)).toSorted().join())
    yield `finished are ${paths}`;
  if (told.some(({ path }, at) => told.slice(at + 1).some((later) => isInside(later.path, path))))
    yield `an outer value was told before an inner one: ${paths}`;
}

/** Events of which some do not fit: refused where Python refuses them, and elsewhere with the same result. */
function checkRefusals({ given, wanted }) {
  let state = empty;
  for (const [at, event] of given.entries()) {
    let next;
    try {
      next = apply(freeze(state), freeze(event));
    } catch (error) {
      if (error.name !== "StreamError") throw error;
    }
    const { value, growing, version } = wanted[at] ?? {};
    if (!next !== !wanted[at]) return [`event ${at} was ${next ? "taken" : "refused"}: ${JSON.stringify(event)}`];
    if (!next) continue;
    state = next;
    if (!equal(state.value, value) || state.version !== version) return [`event ${at} gives ${JSON.stringify(state.value)}`];
    const paths = [...state.growing.values()];
    if (!equal(sorted(paths), sorted(growing))) return [`after event ${at}, growing are ${JSON.stringify(paths)}`];
  }
  return [];
}

/** A reader that reconnects: the same value, and the same objects wherever they are equal. */
async function checkJoins({ bytes, again, value }) {
  let state = empty;
  for await (const event of events([fromBase64(bytes)])) state = apply(state, event);
  const before = state;
  for await (const event of events([fromBase64(again)])) state = apply(freeze(state), freeze(event));
  if (!equal(state.value, value)) return [`the value is ${JSON.stringify(state.value)}`];
  const paths = state.value === undefined ? [] : pathsOf(state.value);
  return [...paths]
    .map((path) => [path, at(before.value, path), at(state.value, path)])
    .filter(([, old, now]) => (old === now) !== equal(old, now))
    .map(([path]) => `${JSON.stringify(path)} is another object`);
}

/** A stream that is cut in two, and in single bytes. */
async function checkCuts({ bytes, wanted }) {
  const all = fromBase64(bytes);
  const wrong = [];
  const ways = [[...all].map((byte) => Uint8Array.of(byte))];
  for (let at = 0; at <= all.length; at++) ways.push([all.slice(0, at), all.slice(at)]);
  for (const [at, way] of ways.entries()) {
    const { read } = await readCounted(way);
    if (!equal(read, wanted)) wrong.push(`way ${at}: ${JSON.stringify(read)}`);
  }
  return wrong;
}

/** Every kind of source gives the same; what breaks off is resumed if it can be, and closed if it is stopped. */
async function checkSources({ bytes, value }) {
  const all = fromBase64(bytes);
  const halves = [all.slice(0, 40), all.slice(40)];
  const wrong = [];
  const last = async (source, options) => {
    const stream = connect(source, options);
    await new Promise((resolve) => stream.subscribe(() => stream.getSnapshot().status !== "open" && resolve()));
    return stream.getSnapshot();
  };
  const sources = {
    response: () => new Response(all),
    stream: () => new Response(all).body,
    bytes: () => halves,
    text: () => [...new TextDecoder().decode(all)],
    generator: async function* () {
      yield* halves;
    },
  };
  for (const [name, source] of Object.entries(sources)) {
    const snapshot = await last(source());
    if (snapshot.status !== "ended" || !equal(snapshot.value, value)) wrong.push(`${name}: ${snapshot.status}`);
  }

  const broken = await last(halves.slice(0, 1));
  if (broken.status !== "lost" || broken.value === undefined) wrong.push(`without a URL: ${broken.status}`);

  const asked = [];
  const fetch = async (url) => (asked.push(url), new Response(all));
  const resumed = connect(new Response(halves[0]), { resumeUrl: "/again", fetch, retryDelay: 1 });
  for await (const snapshot of resumed) if (snapshot.status === "ended" && !equal(snapshot.value, value)) wrong.push("resumed");
  if (asked.join() !== "/again") wrong.push(`resumed at ${asked}`);

  let isClosed = false;
  const silent = { next: () => new Promise(() => {}), return: async () => void (isClosed = true) };
  const stopped = connect({ [Symbol.asyncIterator]: () => silent });
  await new Promise((resolve) => setTimeout(resolve, 5));
  await stopped.stop();
  await new Promise((resolve) => setTimeout(resolve, 5));
  if (!isClosed || stopped.getSnapshot().status !== "stopped") wrong.push("a silent source stays open");
  return wrong;
}

/** Read all events, and count how often JSON is parsed. */
async function readCounted(chunks) {
  const { parse } = JSON;
  let parses = 0;
  JSON.parse = (text) => (parses++, parse(text));
  try {
    const read = [];
    for await (const event of events(chunks)) read.push(event);
    return { read, parses };
  } finally {
    JSON.parse = parse;
  }
}

function cut(bytes, cuts) {
  const all = fromBase64(bytes);
  const places = [0, ...cuts, all.length];
  return places.slice(1).map((end, at) => all.slice(places[at], end));
}

const fromBase64 = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
const sorted = (paths) => paths.map((path) => JSON.stringify(path)).toSorted();
const isInside = (path, outer) => path.length > outer.length && outer.every((segment, at) => path[at] === segment);
const keys = (value) => (Array.isArray(value) ? [...value.keys()] : Object.keys(value));
const isContainer = (value) => typeof value === "object" && value !== null;

function at(value, path) {
  for (const key of path) value = isContainer(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}

function* pathsOf(value, path = []) {
  yield path;
  if (isContainer(value)) for (const key of keys(value)) yield* pathsOf(value[key], [...path, key]);
}

function equal(one, other) {
  if (!isContainer(one) || !isContainer(other)) return Object.is(one, other);
  if (Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) return false;
  const names = Reflect.ownKeys(one);
  if (names.length !== Reflect.ownKeys(other).length) return false;
  return names.every((name) => Object.hasOwn(other, name) && equal(one[name], other[name]));
}

function freeze(value) {
  if (isContainer(value) && !Object.isFrozen(value) && !(value instanceof Map)) {
    Object.freeze(value);
    for (const key of keys(value)) freeze(value[key]);
  }
  return value;
}

function describePrototypes() {
  const names = [Object, Array, String, Function].map((each) => Reflect.ownKeys(each.prototype).map(String));
  return JSON.stringify([names, Object.prototype.toString.call({})]);
}
