// A chat of several turns in the real client of a front end; what the client sends to the server each time.
//
// In, as JSON: [{text, files, streams}]: what the user says, and the answer to each request that follows from it.
// The argument names the client: ai6, ai7 or ag-ui. With ai, an approval that waits is granted or denied as `approve` says.
// Out: the bodies of all requests, in order.
import { HttpAgent } from "@ag-ui/client";

const turns = JSON.parse(await new Response(process.stdin).text());
const [client] = process.argv.slice(2);
const bodies = [];
const streams = turns.flatMap((turn) => turn.streams);
const answer = async (url, options) => {
  bodies.push(JSON.parse(options.body));
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
    for (const [id, approved] of Object.entries(approve ?? {})) {
      await chat.addToolApprovalResponse({ id, approved, reason: approved ? undefined : "too dear" });
    }
    while (chat.status === "submitted" || chat.status === "streaming") await new Promise((done) => setTimeout(done, 5));
    if (failed.length) throw failed[0];
  }
}

async function agUi() {
  const agent = new HttpAgent({ url: "http://localhost/", threadId: "t", fetch: answer });
  for (const { text, files, resume } of turns) {
    if (!resume) {
      const images = files.map(({ mediaType, url }) =>
        ({ type: "image", source: { type: "data", mimeType: mediaType, value: url.split(",")[1] } }));
      agent.addMessage({ id: `u${bodies.length}`, role: "user", content: [{ type: "text", text }, ...images] });
    }
    await agent.runAgent(resume ? { resume } : {});
  }
}

await (client === "ag-ui" ? agUi() : useChat(await import(client)));
process.stdout.write(JSON.stringify(bodies));
