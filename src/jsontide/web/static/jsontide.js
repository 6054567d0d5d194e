/**
 * Reads values that grow on a server, from compact deltas: what `CompactEncoder` of jsontide (Python) writes, as
 * server-sent events or as NDJSON. No dependencies; for browsers, and for Node 20 or newer.
 *
 *     import { connect, isFinished } from "./jsontide.js";
 *     for await (const state of connect("/answer")) show(state.value);
 *
 * From the inside out:
 *
 *     apply(state, event) -> state     a pure step: the value after one more event
 *     isFinished(state, path)          whether the value at a path will not change any more
 *     finished(before, after)          what became finished between two states
 *     events(source)                   bytes -> events
 *     connect(source, options)         a request that is repeated when it breaks off -> states
 *
 * Rule: what an event does not change stays the same object (`===`); only the containers around a change are new.
 * Keys are plain data, whatever they are called: `__proto__` becomes a property of its own, never a prototype.
 *
 * The types are in jsontide.d.ts. The form of the events is told in docs/how-to/browser.md.
 *
 * @license MIT
 */

/** @import { Event, JsonValue, Listener, Options, Path, Snapshot, Source, State, Status, Stream } from "./jsontide.js" */

/** What cannot be repeated: an event that does not fit, or an answer that is none (then it has a `status`). */
export class StreamError extends Error {
  name = "StreamError";

  /** @param {string} message  @param {number} [status] */
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/**
 * The state before the first event.
 * @type {State}
 */
export const empty = { value: undefined, version: -1, end: undefined, cursor: [], growing: new Map() };

/**
 * Return the state after one more event; the state before stays as it is.
 * @param {State} state
 * @param {Event} event
 * @returns {State}
 */
export function apply(state, event) {
  if (state.end) refuse("an event follows the end", event);
  if (isContainer(event) && !Array.isArray(event)) return applyObject(state, event);
  if (state.version < 0) refuse("the first event must be a whole value", event);
  return applyAll(state, Array.isArray(event) ? event : [event], state.version + 1);
}

/** @param {State} state  @param {any} event  @returns {State} */
function applyObject(state, event) {
  if (Object.hasOwn(event, "end")) return { ...state, version: state.version + 1, end: event };
  const { version, value, at, then = [] } = event;
  if (!Number.isInteger(version)) refuse("an object must have a version or an end", event);
  if (!Array.isArray(at ?? []) || !Array.isArray(then)) refuse("a path and operations must be arrays", event);
  const whole = { ...empty, value, version, cursor: at ?? [], growing: new Map() };
  if (at) grow(whole.growing, at, 0);
  const after = applyAll(whole, then, version);
  return { ...after, value: merge(state.value, after.value) };
}

/**
 * Apply operations, in place in copies of the containers that they change.
 * @param {State} before
 * @param {any[]} operations
 * @param {number} version
 * @returns {State}
 */
function applyAll(before, operations, version) {
  let { value, cursor, growing } = before; // `growing` is copied before it is changed
  const copies = new Set();

  /** @param {any} container */
  const copy = (container) => {
    if (copies.has(container)) return container;
    if (!isContainer(container)) refuse(`there is no container around ${keyOf(cursor)}`, container);
    const made = Array.isArray(container) ? [...container] : { ...container };
    copies.add(made);
    return made;
  };
  /** @param {Path} path  @param {JsonValue} leaf */
  const put = (path, leaf) => {
    if (Object.is(find(value, path), leaf)) return;
    if (!path.length) return (value = leaf);
    let container = (value = copy(value));
    for (const segment of path.slice(0, -1)) {
      const inner = copy(get(container, segment));
      assign(container, segment, inner);
      container = inner;
    }
    assign(container, path[path.length - 1], leaf);
  };
  /** @returns {Map<string, Path>} */
  const changeGrowing = () =>
    growing === before.growing ? (growing = new Map(growing)) : /** @type {Map<string, Path>} */ (growing);

  for (const operation of operations) {
    if (typeof operation === "string") {
      const text = find(value, cursor);
      if (typeof text !== "string") refuse(`there is no text at ${keyOf(cursor)} to append to`, operation);
      put(cursor, text + operation);
    } else if (Number.isInteger(operation) && operation > 0) {
      for (let levels = operation; levels; levels--) {
        if (!growing.has(keyOf(cursor))) refuse(`the value at ${keyOf(cursor)} is finished already`, operation);
        changeGrowing().delete(keyOf(cursor));
        cursor = cursor.slice(0, -1);
      }
    } else if (Array.isArray(operation) && operation.length > 1) {
      const [segment, leaf, ...inside] = operation;
      const path = [...cursor, segment];
      put(path, merge(find(value, path), leaf)); // a repeated key replaces the one before
      const key = keyOf(path);
      for (const each of growing.keys()) // of what stood there
        if (each === key || each.startsWith(key.slice(0, -1) + ",")) changeGrowing().delete(each);
      if (typeof leaf === "string" || isContainer(leaf)) {
        cursor = [...path, ...inside];
        grow(changeGrowing(), cursor, path.length);
      }
    } else if (isContainer(operation) && Array.isArray(operation.at)) {
      cursor = operation.at;
    } else {
      refuse("this is no operation", operation);
    }
  }
  return { value, version, end: undefined, cursor, growing };
}

/** Note that the values along a path grow, from a length of it on. @param {any} growing  @param {Path} path  @param {number} from */
function grow(growing, path, from) {
  for (let length = from; length <= path.length; length++) {
    const outer = path.slice(0, length);
    growing.set(keyOf(outer), outer);
  }
}

/**
 * Return a value that equals `now`, with the objects of `old` where they are equal.
 * @param {any} old
 * @param {any} now
 * @returns {any}
 */
function merge(old, now) {
  if (!isContainer(old) || !isContainer(now) || Array.isArray(old) !== Array.isArray(now)) return now;
  const merged = Array.isArray(now) ? [] : {};
  const segments = segmentsOf(now);
  let isSame = segments.length === segmentsOf(old).length;
  for (const segment of segments) {
    const was = get(old, segment);
    const inner = merge(was, now[segment]);
    isSame &&= Object.is(inner, was);
    assign(merged, segment, inner);
  }
  return isSame ? old : merged;
}

/**
 * Return whether there is a value at a path that will not change any more.
 * @param {State} state
 * @param {Path} path
 */
export function isFinished(state, path) {
  return find(state.value, path) !== undefined && !state.growing.has(keyOf(path));
}

/**
 * Return what became finished between two states, inner values before outer ones.
 * @param {State} before
 * @param {State} after
 */
export function finished(before, after) {
  /** @type {{ path: Path, value: any }[]} */
  const found = [];
  for (const [key, path] of before.growing) {
    const value = find(after.value, path);
    const isNew = value !== undefined && !after.growing.has(key);
    if (isNew && value === find(before.value, path)) found.push({ path, value });
  }
  found.sort((one, other) => other.path.length - one.path.length);

  /** @param {any} old  @param {any} value  @param {Path} path */
  const visit = (old, value, path) => {
    if (isContainer(value))
      for (const segment of segmentsOf(value)) {
        const was = get(old, segment);
        if (was !== value[segment]) visit(was, value[segment], [...path, segment]);
      }
    if (!after.growing.has(keyOf(path))) found.push({ path, value });
  };
  if (before.value !== after.value && after.value !== undefined) visit(before.value, after.value, []);
  return found;
}

/** @param {any} value */
const isContainer = (value) => typeof value === "object" && value !== null;

/** @param {Path} path */
const keyOf = (path) => JSON.stringify(path);

/** @param {any} container  @returns {Path} */
const segmentsOf = (container) => (Array.isArray(container) ? [...container.keys()] : Object.keys(container));

/** Return a member or an item, `undefined` if there is none. @param {any} container  @param {string | number} segment */
function get(container, segment) {
  const isThere = Array.isArray(container)
    ? typeof segment === "number"
    : isContainer(container) && typeof segment === "string" && Object.hasOwn(container, segment);
  return isThere ? container[segment] : undefined;
}

/** Return the value at a path, `undefined` if there is none. @param {any} value  @param {Path} path */
function find(value, path) {
  for (const segment of path) value = get(value, segment);
  return value;
}

/** @param {any} container  @param {string | number} segment  @param {any} value */
function assign(container, segment, value) {
  const fits = Array.isArray(container)
    ? Number.isInteger(segment) && +segment >= 0 && +segment <= container.length
    : typeof segment === "string";
  if (!fits) refuse(`there is no place ${JSON.stringify(segment)} in this container`, value);
  // An assignment would change the prototype when the key is `__proto__`.
  Object.defineProperty(container, segment, { value, writable: true, enumerable: true, configurable: true });
}

/** @param {string} why  @param {unknown} what  @returns {never} */
function refuse(why, what) {
  throw new StreamError(`${why}: ${(typeof what === "string" ? what : `${JSON.stringify(what)}`).slice(0, 100)}`);
}

/**
 * Read the events of a response, a stream, or an iterable of bytes or text that is cut anywhere.
 * @param {Source} source
 * @returns {AsyncGenerator<Event, void>}
 */
export async function* events(source) {
  const decode = decoder();
  const chunks = iterate(source);
  try {
    for (;;) {
      const { done, value } = await chunks.next();
      if (done) return;
      for (const { event } of decode(value)) yield event;
    }
  } finally {
    chunks.close();
  }
}

/** Read any source in the same way; closing never waits, nor fails. @param {any} source */
function iterate(source) {
  const body = "body" in source ? (source.body ?? []) : source;
  const reader = body.getReader?.();
  const iterator = reader ?? body[Symbol.asyncIterator]?.() ?? body[Symbol.iterator]();
  return {
    next: async () => (reader ? reader.read() : iterator.next()),
    close: async () => (reader ? reader.cancel() : iterator.return?.())?.catch?.(() => {}),
  };
}

/**
 * Make a function that finds the events in chunks. Which form they have is seen line by line: no field of a
 * server-sent event begins as a JSON object, array or string does. What is cut off at the end is no event.
 */
function decoder() {
  const utf8 = new TextDecoder();
  let line = "";
  let half = ""; // of a line's end, which may be two characters
  /** @type {string[]} */
  let data = [];
  /** @type {string | undefined} */
  let id;

  /** @param {string} text */
  const parse = (text) => {
    try {
      return { id, event: JSON.parse(text) };
    } catch {
      refuse("an event must be JSON", text);
    }
  };
  /** @param {string | BufferSource} chunk */
  return function* (chunk) {
    const text = half + (typeof chunk === "string" ? chunk : utf8.decode(chunk, { stream: true }));
    half = text.endsWith("\r") ? "\r" : "";
    const lines = text.slice(0, text.length - half.length).split(/\r\n?|\n/);
    lines[0] = line + lines[0];
    line = lines.pop() ?? "";
    for (const each of lines) {
      const [, field, value] = /^([^:]*):? ?(.*)/s.exec(each) ?? [];
      if (/^[[{"]/.test(each)) {
        yield parse(each);
      } else if (field === "data") {
        data.push(value);
      } else if (field === "id") {
        id = value;
      } else if (!each) {
        const whole = data.join("\n");
        data = [];
        if (whole) yield parse(whole);
      }
    }
  };
}

/**
 * Read a growing value, and go on without loss when the connection breaks off: each reconnection begins with the
 * whole value, of which everything that is known already keeps its identity.
 * @param {string | URL | Source} source
 * @param {Options} [options]
 * @returns {Stream}
 */
export function connect(source, options = {}) {
  const {
    resumeUrl,
    stopUrl,
    retries = 8,
    retryDelay = 500,
    maxRetryDelay = 30_000,
    timeout = 60_000,
    fetch = globalThis.fetch,
    signal,
    onChange,
    onFinished,
    onEnd,
    onError,
    ...init
  } = options;
  const url = typeof source === "string" || source instanceof URL ? source : undefined;
  const resume = resumeUrl ?? url ?? /** @type {Response} */ (source).url;
  /** @type {Set<Listener>} */
  const listeners = new Set();
  /** @type {Snapshot} */
  let snapshot = { ...empty, status: "connecting", error: undefined };
  /** @type {string | undefined} */
  let lastId;
  let tries = 0;
  let isOver = false;
  let controller = new AbortController();
  /** @type {Promise<any> | undefined} */
  let response; // of the request that is under way, or was made last
  /** @type {(reason: unknown) => void} */
  let interrupt = () => {};

  /** @param {Partial<Snapshot>} change */
  const publish = (change) => {
    const before = snapshot;
    const now = (snapshot = { ...before, ...change });
    /** @param {any} callback  @param {unknown[]} given */
    const call = (callback, ...given) => {
      try {
        if (snapshot === now) callback?.(...given); // a callback may have stopped the stream
      } catch (error) {
        queueMicrotask(() => {
          throw error; // of the program, not of the stream
        });
      }
    };
    if (onFinished) for (const { path, value } of finished(before, now)) call(onFinished, path, value);
    call(onChange, now);
    for (const listener of [...listeners]) call(listener);
    if (!isOver) return;
    if (now.error) call(onError, now.error);
    call(onEnd, now);
  };

  /** @param {Status} status  @param {Partial<Snapshot>} change */
  const close = (status, change) => {
    if (isOver) return;
    isOver = true;
    signal?.removeEventListener("abort", abort);
    controller.abort();
    interrupt(undefined);
    publish({ ...change, status });
  };
  const abort = () => close("stopped", { error: undefined });

  /**
   * Wait for a promise, for at most some time, or only for the time; the end of the stream interrupts it.
   * @param {number} time
   * @param {Promise<any>} [promise]
   */
  const wait = (time, promise) => {
    /** @type {any} */
    let timer;
    return new Promise((resolve, reject) => {
      interrupt = reject;
      promise?.then(resolve, reject);
      const late = () => (promise ? reject(new Error(`nothing was received for ${time} ms`)) : resolve(undefined));
      if (time) timer = setTimeout(late, time);
      else if (!promise) resolve(undefined);
    }).finally(() => clearTimeout(timer));
  };

  /** @param {any} target  @param {RequestInit} changes */
  const request = async (target, changes) => {
    const headers = new Headers(init.headers);
    if (lastId) headers.set("Last-Event-ID", lastId);
    const address = typeof target === "function" ? target(lastId) : target;
    return fetch(address, { cache: "no-store", ...init, headers, ...changes });
  };

  /** @param {boolean} isFirst */
  const open = async (isFirst) => {
    const again = isFirst ? {} : { method: "GET", body: undefined };
    response =
      isFirst && !url
        ? Promise.resolve(source)
        : request(isFirst ? url : resume, { ...again, signal: controller.signal });
    return wait(timeout, response);
  };

  /** Read one connection until the end is told; raise where it breaks off. @param {boolean} isFirst */
  const read = async (isFirst) => {
    const answer = await open(isFirst);
    check(answer);
    lastId = answer.headers?.get("x-run-id") ?? lastId; // known before the first event
    const decode = decoder();
    const chunks = iterate(answer);
    try {
      while (!isOver) {
        const { done, value } = await wait(timeout, chunks.next());
        if (done) throw new Error("the connection closed before the end was told");
        readChunk(decode(value));
      }
    } finally {
      chunks.close();
    }
  };

  /** @param {Iterable<{ event: Event, id: string | undefined }>} found */
  const readChunk = (found) => {
    /** @type {State} */
    let state = snapshot;
    for (const { event, id } of found) {
      state = apply(state, event);
      lastId = id ?? lastId;
      if (state.end) return close("ended", { ...state, error: undefined });
    }
    if (state === snapshot) return;
    if (state.value !== snapshot.value || state.growing.size !== snapshot.growing.size) tries = 0;
    publish({ ...state, status: "open", error: undefined });
  };

  const run = async () => {
    for (let isFirst = true; !isOver; isFirst = false) {
      try {
        await read(isFirst);
      } catch (/** @type {any} */ error) {
        controller.abort();
        const isFatal = error instanceof StreamError && !(Number(error.status) >= 500);
        if (error?.status === 204 && isFirst) close("none", { error: undefined });
        else if (isFatal && error.status !== 204) close("failed", { error });
        else if (isFatal || !resume || tries >= retries) close("lost", { error });
        if (isOver) return;
        controller = new AbortController();
        publish({ status: "retrying", error });
        const delay = Math.min(maxRetryDelay, retryDelay * 2 ** tries++);
        const back = whenBack();
        await wait(delay * (0.5 + Math.random() / 2), back.promise).catch(() => {});
        back.forget();
      }
    }
  };

  /** @param {Listener} listener */
  const subscribe = (listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  const nextChange = () =>
    new Promise((/** @type {(_?: unknown) => void} */ resolve) => {
      const unsubscribe = subscribe(() => {
        unsubscribe();
        resolve();
      });
    });
  /** Wait for the name of a turn whose request is under way: without it, the server cannot be told which to stop. */
  const findName = async () => {
    const opening = controller;
    controller = new AbortController(); // so that closing the stream leaves the request alone
    const timer = timeout && setTimeout(() => opening.abort(), timeout);
    try {
      const answer = await response;
      lastId = answer.headers?.get("x-run-id") ?? undefined;
    } catch {
      // The request failed, so there is no turn that is known.
    }
    clearTimeout(timer);
    opening.abort();
  };
  const tell = () => request(stopUrl, { method: "POST", body: undefined, keepalive: true });
  const stop = () => {
    const mustTell = stopUrl && !isOver;
    const naming = mustTell && !lastId ? findName() : undefined;
    abort();
    const answer = naming
      ? naming.then(() => (lastId || typeof stopUrl !== "function" ? tell() : undefined))
      : Promise.resolve(mustTell ? tell() : undefined);
    answer.catch(() => {}); // a program that waits for it sees the failure
    return answer;
  };

  if (signal?.aborted) abort();
  signal?.addEventListener("abort", abort);
  run();
  return {
    subscribe,
    getSnapshot: () => snapshot,
    stop,
    async *[Symbol.asyncIterator]() {
      let seen = snapshot.version < 0 ? snapshot : undefined;
      try {
        while (snapshot !== seen || !isOver) {
          if (snapshot !== seen) yield (seen = snapshot);
          else await nextChange();
        }
        if (snapshot.error) throw snapshot.error;
      } finally {
        stop();
      }
    },
  };
}

/** Wait until the network is back, or the reader: in the background, timers of a page may run much later. */
function whenBack() {
  const { document } = globalThis;
  /** @type {() => void} */
  let seen;
  /** @type {(_?: unknown) => void} */
  let back;
  const promise = new Promise((resolve) => {
    back = resolve;
    seen = () => document.visibilityState === "visible" && resolve(undefined);
    globalThis.addEventListener?.("online", back);
    document?.addEventListener("visibilitychange", seen);
  });
  const forget = () => {
    globalThis.removeEventListener?.("online", back);
    document?.removeEventListener("visibilitychange", seen);
  };
  return { promise, forget };
}

/** @param {any} response */
function check(response) {
  if (!("status" in response)) return;
  const { ok, status, url, headers } = response;
  if (status === 204) throw new StreamError("there is nothing to resume", status);
  if (!ok) throw new StreamError(`${url} answered ${status}`, status);
  if (/html/.test(headers.get("content-type"))) throw new StreamError(`${url} answered with a page`, status);
}
