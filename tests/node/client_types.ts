// What the types of jsontide.js allow, and what they do not.
import {
  apply,
  connect,
  empty,
  events,
  finished,
  isFinished,
  StreamError,
  type Growing,
  type Message,
  type Path,
  type Run,
  type Snapshot,
  type State,
} from "../../src/jsontide/web/static/jsontide.js";

interface Trip {
  city: string;
  days: { title: string; stops: number[] }[];
}

const stream = connect<Trip>("/trip", {
  method: "POST",
  headers: { authorization: "Bearer x" },
  body: "{}",
  credentials: "include",
  signal: AbortSignal.timeout(1000),
  resumeUrl: (id) => `/trip/${id}`,
  stopUrl: new URL("https://example.org/stop"),
  retries: 3,
  onChange: (snapshot) => snapshot.value?.days?.[0]?.title?.length,
  onFinished: (path: Path, value: unknown) => [path.length, value],
  onEnd: ({ status, end }) => (status === "ended" ? end?.reason : undefined),
  onError: (error) => (error instanceof StreamError ? error.status : error.message),
});

export async function read(): Promise<string | undefined> {
  for await (const snapshot of stream) {
    const city: string | undefined = snapshot.value?.city;
    // @ts-expect-error - a member may be missing while it grows
    snapshot.value?.days[0];
    // @ts-expect-error - there is no such member
    snapshot.value?.country;
    if (isFinished(snapshot, ["days", 0, "title"])) return city;
  }
  const answer: Response | undefined = await stream.stop();
  return answer?.statusText;
}

export const unsubscribe: () => void = stream.subscribe(() => {});
export const snapshot: Snapshot<Trip> = stream.getSnapshot();
// @ts-expect-error - states never change
snapshot.version = 3;
// @ts-expect-error - there is no such status
snapshot.status === "closed";

export async function fold(response: Response): Promise<State<Trip>> {
  let state: State<Trip> = empty;
  for await (const event of events(response)) {
    const next = apply(state, event);
    for (const { path, value } of finished(state, next)) console.log(path.join("."), value);
    state = next;
  }
  return state;
}

export function describe(message: Growing<Message<Trip>>): string[] {
  return message.parts.map((part) => {
    if (part.type === "text") return part.text ?? "";
    if (part.type === "call" && part.status === "complete") return part.name ?? "";
    // @ts-expect-error - there is no such kind
    if (part.type === "image") return "";
    return message.answer?.city ?? message.status;
  });
}

export async function last(): Promise<number> {
  let count = 0;
  for await (const { value } of connect<Message<Trip>>("/chat")) {
    count = value === undefined ? 0 : value.parts.length + value.role.length;
    // @ts-expect-error - the answer grows
    value?.answer?.days[0];
  }
  return count;
}

export async function waits(): Promise<string[]> {
  for await (const { value } of connect<Run<Trip>>("/agent")) {
    const step = value?.steps.at(-1);
    // @ts-expect-error - a step may not have its message yet
    step?.message.parts;
    const parts = step?.message?.parts ?? [];
    const waiting = step?.results?.filter(({ status }) => status === "waiting") ?? [];
    if (value?.status === "waiting") return waiting.map(({ part = 0 }) => parts[part]?.type ?? "");
  }
  return [];
}

// @ts-expect-error - a number is no source
connect(3);
// @ts-expect-error - an option of this name does not exist
connect("/trip", { retry: 3 });
