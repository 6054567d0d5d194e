// Follows a stream with connect(), and logs what it told: snapshots, what was finished, how it ended.
import { connect } from "../../src/jsontide/web/static/jsontide.js";

/** URLs with an `{id}` in them are functions of it. */
const target = (url) => (url?.includes("{id}") ? (id) => url.replace("{id}", id) : url);

/**
 * `way`: how the stream is followed; `stopAt`: a text in the value at which it is ended, or true: when the server was
 * asked; by `stop`: by its method, by the signal, or by leaving the loop. The server is told of every value.
 */
export async function follow({ source, options = {}, way = "callbacks", stopAt, stop = "method" }) {
  const log = { snapshots: [], finished: [], errors: [], ends: [], ended: undefined, raised: undefined, isStable: true };
  const values = [];
  const address = (path) => new URL(path, source);
  let told = Promise.resolve();
  const controller = new AbortController();
  let answer;
  let stream;
  const finish = () => {
    if (stop === "signal") controller.abort();
    if (stop === "method") answer ??= stream.stop();
    return stop === "leave";
  };
  const note = (snapshot) => {
    const { value, status, version, end, error } = snapshot;
    values.push(value);
    const body = JSON.stringify(value ?? null);
    told = told.then(() => fetch(address("/seen"), { method: "POST", body }));
    log.snapshots.push({ value, status, version, end, error: error?.message });
    return typeof stopAt === "string" && body.includes(stopAt) && finish();
  };
  if (stopAt === true) fetch(address("/asked")).then(finish);
  const over = new Promise((resolve) => {
    const onEnd = (snapshot) => {
      log.ends.push(snapshot.status);
      resolve();
    };
    const onError = (error) => log.errors.push({ message: error.message, status: error.status });
    const onFinished = (path, value) => log.finished.push([path, value]);
    const { resumeUrl, stopUrl, ...others } = options;
    const all = { ...others, resumeUrl: target(resumeUrl), stopUrl: target(stopUrl), onEnd, onError, onFinished };
    all.signal = controller.signal;
    stream = connect(source, way === "callbacks" ? { ...all, onChange: note } : all);
  });
  if (way === "loop") {
    try {
      for await (const snapshot of stream) if (note(snapshot)) break;
    } catch (error) {
      log.raised = error.message;
    }
  }
  if (way === "store") {
    stream.subscribe(() => {
      log.isStable &&= stream.getSnapshot() === stream.getSnapshot();
      note(stream.getSnapshot());
    });
    const unsubscribe = stream.subscribe(() => {
      unsubscribe();
      log.calls = (log.calls ?? 0) + 1;
    });
  }
  await over;
  await told;
  const last = stream.getSnapshot();
  log.last = { value: last.value, status: last.status, end: last.end };
  log.stopStatus = (await answer)?.status;
  log.kept = keptMembers(values);
  return log;
}

/** The members of the value that were the same object in all snapshots that had them, and were objects. */
function keptMembers(values) {
  const seen = values.filter((value) => typeof value === "object" && value !== null);
  const names = new Set(seen.flatMap((value) => Object.keys(value)));
  return [...names].filter((name) => {
    const members = seen.filter((value) => Object.hasOwn(value, name)).map((value) => value[name]);
    return typeof members[0] === "object" && members.every((member) => member === members[0]);
  });
}
