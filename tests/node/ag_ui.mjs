// Given a list of streams, as {text, size}, or {text, then, approved}, where `then` is the answer to what a person
// decided about everything that waits, prints for each what @ag-ui/client made of it:
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

const read = async ({ text, size, then, approved }) => {
  warnings = [];
  const found = { ran: [], custom: [], end: null, pending: null, error: null };
  const bodies = [text, then];
  const fetch = async () => new Response(body(bodies.shift(), size ?? 1 << 16), { headers });
  const agent = new HttpAgent({ url: "http://localhost/", threadId: "t", fetch });
  const subscriber = {
      onNewToolCall({ toolCall }) { found.ran.push({ id: toolCall.id, arguments: toolCall.function.arguments }); },
      onCustomEvent({ event }) { found.custom.push([event.name, event.value]); },
      onRunFinishedEvent(given) {
        found.end = given.event.outcome?.type ?? "none";
        found.pending = given.pendingToolCallIds ?? null;
      },
      onRunErrorEvent({ event }) { found.end = `error ${event.code}`; },
  };
  try {
    await agent.runAgent({}, subscriber);
    if (then !== undefined) {
      const resume = agent.pendingInterrupts.map(({ id }) => ({ interruptId: id, status: "resolved", payload: { approved } }));
      await agent.runAgent({ resume }, subscriber);
    }
  } catch (error) {
    found.error = String(error);
  }
  return { ...found, state: agent.state, messages: agent.messages, warnings };
};

const results = [];
for (const stream of streams) results.push(await read(stream));
process.stdout.write(JSON.stringify(results));
