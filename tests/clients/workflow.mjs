// Sends one prompt over `WorkflowChatTransport` and reports what its user holds in the end.
//
//   node tests/clients/workflow.mjs < job.json > report.json
//
// In: {api, headers, text, body, limitMs}. Out: {messages, status, error, requests: [{method, url,
// type, status, run}], timedOut}.
import { text } from "node:stream/consumers";

import { Chat, WorkflowChatTransport } from "./workflow-2.0.43/index.mjs";

// Standard output is the report's alone; the transport tells every broken stream.
for (const name of ["log", "info", "debug", "warn"]) console[name] = console.error;

const job = JSON.parse(await text(process.stdin));
const requests = [];

async function watched(url, init) {
  const asked = { method: init?.method ?? "GET", url: String(url), status: 0 };
  requests.push(asked);
  asked.type = new Request(url, init).headers.get("content-type");
  const response = await fetch(url, init);
  asked.status = response.status;
  asked.run = response.headers.get("x-workflow-run-id");
  return response;
}

const chat = new Chat({
  id: "chat-1",
  transport: new WorkflowChatTransport({
    api: job.api,
    fetch: watched,
    prepareSendMessagesRequest: ({ messages }) => ({
      headers: job.headers,
      body: { messages, ...job.body },
    }),
    prepareReconnectToStreamRequest: ({ api }) => ({ api, headers: job.headers }),
  }),
});

let timedOut = false;
const bell = setTimeout(() => {
  timedOut = true;
  chat.stop();
}, job.limitMs);
await chat.sendMessage({ text: job.text });
clearTimeout(bell);
const { messages, status, error } = chat;
const report = { messages, status, error: error?.message ?? null, requests, timedOut };
process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit(0));
