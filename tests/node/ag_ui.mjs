// Given a list of streams, as text, prints for each what @ag-ui/client made of it:
// {state, messages, ran: ids of calls that onNewToolCall was told of, end, pending, warnings, error}.
import { HttpAgent } from "@ag-ui/client";

const streams = JSON.parse(await new Response(process.stdin).text());
const headers = { "content-type": "text/event-stream" };
const encoder = new TextEncoder();
let warnings = [];
console.warn = (...said) => warnings.push(said.join(" "));
console.error = (...said) => warnings.push(said.join(" "));

const body = (text, size) => {
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

const read = async ({ text, size }) => {
  warnings = [];
  const found = { ran: [], custom: [], end: null, pending: null, error: null };
  const fetch = async () => new Response(body(text, size ?? 1 << 16), { headers });
  const agent = new HttpAgent({ url: "http://localhost/", threadId: "t", fetch });
  try {
    await agent.runAgent({}, {
      onNewToolCall({ toolCall }) { found.ran.push({ id: toolCall.id, arguments: toolCall.function.arguments }); },
      onCustomEvent({ event }) { found.custom.push([event.name, event.value]); },
      onRunFinishedEvent(given) {
        found.end = given.event.outcome?.type ?? "none";
        found.pending = given.pendingToolCallIds ?? null;
      },
      onRunErrorEvent({ event }) { found.end = `error ${event.code}`; },
    });
  } catch (error) {
    found.error = String(error);
  }
  return { ...found, state: agent.state, messages: agent.messages, warnings };
};

const results = [];
for (const stream of streams) results.push(await read(stream));
process.stdout.write(JSON.stringify(results));
