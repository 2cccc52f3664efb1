// One turn with the AI SDK alone, without React: each state of the message as it grows.
import { DefaultChatTransport, generateId, readUIMessageStream } from "ai";

const { URL: url, TOKEN: token } = process.env;
const session = process.argv[2] ?? "node";
const transport = new DefaultChatTransport({
  api: `${url}/api/sessions/${session}/chat`,
  headers: { authorization: `Bearer ${token}` },
});

const prompt = { id: generateId(), role: "user", parts: [{ type: "text", text: "what is 12*7?" }] };
const stream = await transport.sendMessages({
  chatId: session,
  trigger: "submit-message",
  messages: [prompt],
});

let message;
let states = 0;
// Without `terminateOnError` a turn that failed would end here without a word.
for await (message of readUIMessageStream({ stream, terminateOnError: true })) states += 1;

for (const part of message.parts) {
  if (part.type === "text") console.log(part.text.trim());
  if (part.type.startsWith("tool-")) console.log(`[${part.type} ${part.state}: ${JSON.stringify(part.output)}]`);
}
console.log(`${message.id} in more than one step: ${states > 1}`);
