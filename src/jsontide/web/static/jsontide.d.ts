/** Types of jsontide.js: values that grow on a server, read from compact deltas. */

export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

/** Keys and indices that lead to a value; `[]` is the whole one. */
export type Path = readonly (string | number)[];

/** One event of the compact form; `apply` checks it. */
export type Event = JsonValue;

/**
 * A value of a type while it grows: members may be missing, and texts and arrays may be short.
 * A message has its role, status and parts from the first event on, and a run its status and steps.
 */
export type Growing<T> = T extends readonly (infer Item)[]
  ? Growing<Item>[]
  : T extends Message<infer Answer>
    ? Omit<Message, "parts" | "answer"> & { parts: Growing<Part>[]; answer?: Growing<Answer> }
    : T extends Run<infer Answer>
      ? Omit<Run, "steps"> & { steps: Growing<Step<Answer>>[] }
    : T extends object
      ? { [Key in keyof T]?: Growing<T[Key]> }
      : T;

/** The event that ended a stream: how a message stands, or `failed`; a word other than `complete` is a failure. */
export interface End {
  readonly end: RunOutcome | (string & {});
  readonly reason?: string;
  readonly path?: Path;
}

/** What was read of a stream; it never changes, `apply` returns the next one. */
export interface State<T = any> {
  /** The value so far, `undefined` before there is one. */
  readonly value: Growing<T> | undefined;
  /** The number of the last event, from 0; -1 before the first. */
  readonly version: number;
  readonly end: End | undefined;
  /** The path of the innermost value that grows. */
  readonly cursor: Path;
  /** The paths of all values that are not finished, by their JSON. */
  readonly growing: ReadonlyMap<string, Path>;
}

/**
 * - `connecting`: nothing was received yet
 * - `open`: the value grows
 * - `retrying`: the connection broke off and will be made again; `error` says why
 * - `ended`: the end was told, see `end`
 * - `stopped`: by `stop()`, or by the signal
 * - `none`: there was nothing to follow: the first answer was 204
 * - `lost`: it broke off for good; `error` says why
 * - `failed`: it was refused, or is not a stream of compact deltas; `error` says why
 */
export type Status = "connecting" | "open" | "retrying" | "ended" | "stopped" | "none" | "lost" | "failed";

/** A state, and how the connection is. */
export interface Snapshot<T = any> extends State<T> {
  readonly status: Status;
  readonly error: Error | undefined;
}

/** Where bytes or text come from, cut anywhere. */
export type Source =
  | Response
  | ReadableStream<Uint8Array>
  | AsyncIterable<string | BufferSource>
  | Iterable<string | BufferSource>;

export type Listener = () => void;

/** A URL, or a function that makes it from the last `id:` that was received, or from the header `x-run-id`. */
export type Target = string | URL | ((id: string | undefined) => string | URL);

/** What `fetch` takes (`method`, `headers`, `body`, `credentials`, `signal`, ...), and: */
export interface Options<T = any> extends RequestInit {
  /** Where to go on after the connection broke off: `GET`, with `Last-Event-ID`. The same URL, unless it is given. */
  resumeUrl?: Target;
  /** Where `stop()` sends a `POST`, with `Last-Event-ID`; nowhere, unless it is given. */
  stopUrl?: Target;
  /** How often to try again in a row, without anything new in between; 8 unless given. */
  retries?: number;
  /** Milliseconds before the first retry; each one in a row waits twice as long, by chance up to half less. */
  retryDelay?: number;
  /** Milliseconds that a retry waits at most; 30,000 unless given. */
  maxRetryDelay?: number;
  /** Milliseconds without a byte after which a connection counts as broken; 60,000 unless given, 0 for never. */
  timeout?: number;
  /** Used for all requests. */
  fetch?: typeof globalThis.fetch;
  /** Called after each piece of the response in which something was new. */
  onChange?: (snapshot: Snapshot<T>) => void;
  /** Called once for each value that is finished, inner ones first; again if it is replaced. */
  onFinished?: (path: Path, value: any) => void;
  /** Called once, however it ends. */
  onEnd?: (snapshot: Snapshot<T>) => void;
  /** Called before `onEnd` if the stream is lost or failed. */
  onError?: (error: Error) => void;
}

/** A growing value, with `subscribe` and `getSnapshot` as React's `useSyncExternalStore` takes them. */
export interface Stream<T = any> {
  /** Call a function after each change; return a function that ends this. */
  readonly subscribe: (listener: Listener) => () => void;
  /** Return the newest state: the same object until something changes. */
  readonly getSnapshot: () => Snapshot<T>;
  /** Close the connection and, if there is a `stopUrl`, tell the server; return its answer. */
  readonly stop: () => Promise<Response | undefined>;
  /** The newest state, as often as it changed; raises if the stream is lost or failed. Leaving the loop stops it. */
  [Symbol.asyncIterator](): AsyncIterator<Snapshot<T>, void>;
}

/** An event that does not fit, or an answer that is no stream; the latter has the HTTP status. */
export class StreamError extends Error {
  constructor(message: string, status?: number);
  readonly status: number | undefined;
}

/** The state before the first event. */
export const empty: State;

/** Return the state after one more event; what the event does not change stays the same object. */
export function apply<T = any>(state: State<T>, event: Event): State<T>;

/** Return whether there is a value at a path that will not change any more. */
export function isFinished(state: State, path: Path): boolean;

/** Return what became finished between two states, inner values before outer ones. */
export function finished(before: State, after: State): { path: Path; value: any }[];

/** Read the events of a source, server-sent or NDJSON. */
export function events(source: Source): AsyncGenerator<Event, void>;

/** Read a growing value, and go on without loss when the connection breaks off. */
export function connect<T = any>(source: string | URL | Source, options?: Options<T>): Stream<T>;

/** How a run stands; while it is `waiting`, a person must decide about the results that wait. */
export type RunOutcome = Outcome | "waiting" | "limit" | "failed";

/** The value of a run, as `CompactEncoder` writes it: `connect<Run>(url)`. */
export interface Run<Answer = any> {
  status: RunOutcome;
  steps: Step<Answer>[];
  /** What all messages cost together. */
  usage?: { [name: string]: JsonValue };
  /** Why it ended badly. */
  error?: string;
}

/** One message, and what its calls gave; results are there when the message has ended. */
export interface Step<Answer = any> {
  message: Message<Answer>;
  results?: Result[];
}

/** What has become of the call at the place `part` among the parts of its message. */
export interface Result {
  part: number;
  status: "queued" | "waiting" | "running" | "done" | "failed" | "refused" | "not_run" | "unknown";
  /** Why a person must decide. */
  reason?: string;
  /** The last value that the tool yielded; it is replaced. */
  progress?: any;
  /** The run of a tool that is one. */
  run?: Run;
  output?: any;
  error?: string;
}

/** How a message or a call stands; only a call that is `complete` may be run. */
export type Outcome =
  | "streaming"
  | "complete"
  | "truncated"
  | "invalid"
  | "refused"
  | "filtered"
  | "cancelled"
  | "empty";

/** The value of a message of an assistant, as `CompactEncoder` writes it: `connect<Message>(url)`. */
export interface Message<Answer = any> {
  role: string;
  status: Outcome;
  parts: Part[];
  id?: string;
  model?: string;
  provider?: string;
  finish_reason?: string;
  /** The answer as a value, if it has a schema. */
  answer?: Answer;
  usage?: { [name: string]: JsonValue };
  errors?: { kind: string; message: string; path?: Path }[];
}

export type Part =
  | { type: "text"; text: string; citations?: { [name: string]: JsonValue }[] }
  | { type: "reasoning" | "refusal"; text: string }
  | { type: "call"; id?: string; name?: string; status: Outcome; arguments?: any }
  | { type: "server_call"; id?: string; name?: string; status?: string; arguments?: any; result?: any }
  | { type: "answer" }
  | { type: "source"; url?: string; title?: string }
  | { type: "file"; media_type?: string; url?: string; id?: string; data?: string }
  | { type: "other"; name?: string; value?: any };
