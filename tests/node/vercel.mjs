// Streams in, what the AI SDK's own chat makes of each out; for every version of it that is named.
//
// In: a list of {stream}, {stream, resume} or {stream, then, decisions}: with `resume`, the network fails after `stream`,
// and the chat resumes; with `then`, the person decides about what waits, and the chat asks again.
// With `automatic`, it asks again by itself when all calls of the last step have results, which is counted: `asked`.
// Out: by version, for each stream: the messages that came, the calls that the client was told to run, how it ended.
// What a client warns about goes to standard error, which fails the test.

const given = JSON.parse(await new Response(process.stdin).text());
const versions = process.argv.slice(2);

class State {
  status = 'ready';
  error = undefined;
  messages = [];
  pushMessage = message => void (this.messages = [...this.messages, message]);
  popMessage = () => void (this.messages = this.messages.slice(0, -1));
  replaceMessage = (at, message) => void (this.messages = this.messages.with(at, message));
  snapshot = thing => structuredClone(thing);
}

function respond(text, isBroken) {
  if (!isBroken) return new Response(text);
  const pieces = [new TextEncoder().encode(text)];
  return new Response(new ReadableStream({
    pull(controller) {
      if (pieces.length) controller.enqueue(pieces.shift());
      else controller.error(new TypeError('network error'));
    },
  }));
}

async function chat(ai, { stream, resume, then, decisions, automatic }) {
  const state = new State();
  const run = [], errors = [], data = [], asked = [];
  let finish;
  const transport = new ai.DefaultChatTransport({
    fetch: async (url, options) => {
      if (options.method !== 'POST') return respond(resume);
      asked.push(JSON.parse(options.body));
      if (asked.length > 1 && then === undefined) return new Response('', { status: 500 });
      return respond(asked.length > 1 ? then : stream, resume !== undefined);
    },
  });
  const client = new (class extends ai.AbstractChat {})({
    id: 'chat',
    generateId: ((next) => () => `client-${next++}`)(0),
    state,
    transport,
    onToolCall: ({ toolCall }) => void run.push({ id: toolCall.toolCallId, input: toolCall.input }),
    onError: error => void errors.push(error.message),
    onData: part => void data.push(part),
    onFinish: ending => void (finish = ending),
    sendAutomaticallyWhen: automatic ? ai.lastAssistantMessageIsCompleteWithToolCalls : undefined,
  });
  await client.sendMessage({ text: 'Hello' });
  if (resume !== undefined) {
    if (!/network/.test(errors.shift())) throw new Error('the network was to fail');
    await client.resumeStream();
  }
  if (then !== undefined) {
    for (const [id, approved] of Object.entries(decisions)) await client.addToolApprovalResponse({ id, approved });
    await client.sendMessage();
  }
  const [, ...messages] = state.messages;
  const told = { status: state.status, dataParts: data.length, finishReason: finish?.finishReason };
  return { messages, run, errors, ...told, asked: asked.length, sent: asked.at(-1).messages.at(-1) };
}

const found = {};
for (const version of versions) {
  const ai = await import(version);
  found[version] = [];
  for (const one of given) found[version].push(await chat(ai, one));
}
process.stdout.write(JSON.stringify(found));
