// Given a list of streams, as {kind, text, size}, prints for each what assistant-stream made of it.
// kind "transport": {message, chunks, ran: calls that were run while reading, pending: calls that were run after it}
// kind "object": {value, count}; both with {warnings, error}.
import {
  AssistantMessageAccumulator,
  AssistantTransportDecoder,
  fromObjectStreamResponse,
  unstable_runPendingTools,
  unstable_toolResultStream,
} from "assistant-stream";

const streams = JSON.parse(await new Response(process.stdin).text());
const encoder = new TextEncoder();
let warnings = [];
console.warn = (...said) => warnings.push(said.join(" "));
console.error = (...said) => warnings.push(said.join(" "));

const bytesOf = (text, size = 1 << 16) => {
  const bytes = encoder.encode(text);
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at + size));
      at += size;
    },
  });
};

const last = async (readable) => {
  let found = null;
  for await (const each of readable) found = each;
  return found;
};

const toolsThatCount = (ran) =>
  new Proxy({}, {
    get: (_, name) => ({ execute: async (args, { toolCallId }) => (ran.push({ id: toolCallId, name, args }), "done") }),
  });

const never = () => new Promise(() => {});

const readTransport = async ({ text, size }) => {
  const signal = new AbortController().signal;
  const ran = [], pending = [];
  const message = await last(
    bytesOf(text, size).pipeThrough(new AssistantTransportDecoder()).pipeThrough(new AssistantMessageAccumulator()),
  );
  const after = await last(
    bytesOf(text, size)
      .pipeThrough(new AssistantTransportDecoder())
      .pipeThrough(unstable_toolResultStream(toolsThatCount(ran), signal, never))
      .pipeThrough(new AssistantMessageAccumulator()),
  );
  if (after) await unstable_runPendingTools(after, toolsThatCount(pending), signal, never);
  return { message, ran, pending };
};

const readObject = async ({ text, size, headers }) => {
  let value = null, count = 0;
  for await (const { snapshot } of fromObjectStreamResponse(new Response(bytesOf(text, size), { headers }))) {
    value = snapshot;
    count += 1;
  }
  return { value, count };
};

const results = [];
for (const stream of streams) {
  warnings = [];
  let found = {}, error = null;
  try {
    found = await (stream.kind === "object" ? readObject(stream) : readTransport(stream));
  } catch (failure) {
    error = String(failure);
  }
  results.push({ ...found, warnings, error });
}
process.stdout.write(JSON.stringify(results));
