// Stop a turn at the agent, and see its stream end by itself.
import { DefaultChatTransport, generateId, readUIMessageStream } from "ai";

const { URL: url, TOKEN: token } = process.env;
const session = process.argv[2] ?? "node-stop";
const api = `${url}/api/sessions/${session}`;
const headers = { authorization: `Bearer ${token}` };
const transport = new DefaultChatTransport({ api: `${api}/chat`, headers });

const prompt = { id: generateId(), role: "user", parts: [{ type: "text", text: "hang" }] };
const stream = await transport.sendMessages({
  chatId: session,
  trigger: "submit-message",
  messages: [prompt],
});

async function stop(turnId) {
  const answer = await fetch(`${api}/stop`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    // With its id only this turn is stopped, never one that began meanwhile.
    body: JSON.stringify({ turnId }),
  });
  console.log(await answer.text());
}

let stopping;
let message;
for await (message of readUIMessageStream({ stream, terminateOnError: true })) {
  // The message's id is the turn's id. The transport's abort signal would only close the connection.
  if (message.parts.length > 0) stopping ??= stop(message.id);
}
await stopping;
console.log(`ended with ${message.parts.length > 0 ? "what was said so far" : "nothing"}`);
