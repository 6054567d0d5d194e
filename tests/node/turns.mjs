// A chat of several turns in the real client of a front end; what the client sends to the server each time.
//
// In, as JSON: [{text, files, streams}]: what the user says, and the answer to each request that follows from it.
// The arguments name the client, ai6, ai7 or ag-ui, and the server, if one is to be asked instead of `streams`.
// With `approve`, what waits is granted or denied: by ids of calls, or all of it alike.
// Out: {bodies, messages}: the bodies of all requests, in order, and what the client has in the end.
import { HttpAgent } from "@ag-ui/client";

const turns = JSON.parse(await new Response(process.stdin).text());
const [client, server] = process.argv.slice(2);
const bodies = [];
const streams = turns.flatMap((turn) => turn.streams);
const answer = async (_, options) => {
  bodies.push(JSON.parse(options.body));
  if (server) return fetch(server, options);
  return new Response(streams.shift(), { headers: { "content-type": "text/event-stream" } });
};

class State {
  status = "ready";
  error = undefined;
  messages = [];
  pushMessage = (message) => void (this.messages = [...this.messages, message]);
  popMessage = () => void (this.messages = this.messages.slice(0, -1));
  replaceMessage = (at, message) => void (this.messages = this.messages.with(at, message));
  snapshot = (thing) => structuredClone(thing);
}

async function useChat(ai) {
  const failed = [];
  const chat = new (class extends ai.AbstractChat {})({
    id: "chat",
    generateId: ((next) => () => `client-${next++}`)(0),
    state: new State(),
    transport: new ai.DefaultChatTransport({ fetch: answer }),
    onError: (error) => void failed.push(error),
    sendAutomaticallyWhen: ai.lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  for (const { text, files, approve } of turns) {
    await chat.sendMessage({ text, files });
    const last = chat.messages.at(-1).parts;
    const waiting = last.filter(({ state }) => state === "approval-requested").map(({ approval }) => [approval.id, approve]);
    for (const [id, approved] of typeof approve === "boolean" ? waiting : Object.entries(approve ?? {})) {
      await chat.addToolApprovalResponse({ id, approved, reason: approved ? undefined : "too dear" });
    }
    while (chat.status === "submitted" || chat.status === "streaming") await new Promise((done) => setTimeout(done, 5));
    if (failed.length) throw failed[0];
  }
  return chat.messages;
}

async function agUi() {
  const agent = new HttpAgent({ url: "http://localhost/", threadId: "t", fetch: answer });
  for (const { text, files, resume, approve } of turns) {
    if (!resume) {
      const images = files.map(({ mediaType, url }) =>
        ({ type: "image", source: { type: "data", mimeType: mediaType, value: url.split(",")[1] } }));
      agent.addMessage({ id: `u${bodies.length}`, role: "user", content: [{ type: "text", text }, ...images] });
    }
    await agent.runAgent(resume ? { resume } : {});
    if (approve === undefined) continue;
    const decided = { status: "resolved", payload: { approved: approve } };
    await agent.runAgent({ resume: agent.pendingInterrupts.map(({ id }) => ({ interruptId: id, ...decided })) });
  }
  return agent.messages;
}

const messages = await (client === "ag-ui" ? agUi() : useChat(await import(client)));
process.stdout.write(JSON.stringify({ bodies, messages }));
