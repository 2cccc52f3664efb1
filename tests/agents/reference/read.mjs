// Reads recorded bodies with the reference client of AG-UI, and tells what it made of them.
//
//   node tests/agents/reference/read.mjs < runs.json > opinions.json
//
// A run: {request, interrupts, status, contentType, body}; `interrupts` are those open before it.
import { text } from "node:stream/consumers";

import { HttpAgent } from "@ag-ui/client";

const told = console.log;
for (const name of ["log", "info", "debug", "warn", "error"]) console[name] = () => {};

async function read({ request, interrupts, status, contentType, body }) {
  const { threadId, runId, messages = [], resume } = request;
  const agent = new HttpAgent({
    url: "http://recorded.invalid/",
    threadId,
    initialMessages: structuredClone(messages),
    fetch: async () => new Response(body, { status, headers: { "content-type": contentType } }),
  });
  agent.pendingInterrupts = interrupts;
  const streamed = { text: "", reasoning: "" };
  let error = null;
  try {
    await agent.runAgent(
      { runId, ...(resume ? { resume } : {}) },
      {
        onTextMessageContentEvent: ({ event }) => void (streamed.text += event.delta),
        onReasoningMessageContentEvent: ({ event }) => void (streamed.reasoning += event.delta),
        onRunErrorEvent: ({ event }) => void (error = event.message),
      },
    );
  } catch (failure) {
    error ??= String(failure?.message ?? failure);
  }
  const known = new Set(messages.map(({ id }) => id));
  return {
    streamed,
    messages: agent.messages.filter(({ id }) => !known.has(id)),
    interrupts: agent.pendingInterrupts,
    error,
  };
}

const runs = JSON.parse(await text(process.stdin));
const opinions = [];
for (const run of runs) opinions.push(await read(run));
told(JSON.stringify(opinions));
