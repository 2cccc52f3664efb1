// An agent that speaks AG-UI, read by the reference client, written by the AI SDK's helper.
import http from "node:http";

import { HttpAgent } from "@ag-ui/client";
import { createUIMessageStream, pipeUIMessageStreamToResponse } from "ai";

import { BACKLOG, HOST, promptOf } from "./prompt.mjs";

const [port, agentUrl] = process.argv.slice(2);
let count = 0;

function translate(writer, event) {
  switch (event.type) {
    case "TEXT_MESSAGE_START":
      writer.write({ type: "start", messageId: event.messageId });
      writer.write({ type: "start-step" });
      writer.write({ type: "text-start", id: event.messageId });
      break;
    case "TEXT_MESSAGE_CONTENT":
      writer.write({ type: "text-delta", id: event.messageId, delta: event.delta });
      break;
    case "TEXT_MESSAGE_END":
      writer.write({ type: "text-end", id: event.messageId });
      break;
    case "RUN_FINISHED":
      writer.write({ type: "finish-step" });
      writer.write({ type: "finish" });
      break;
  }
}

http
  .createServer(async (request, response) => {
    const content = await promptOf(request);
    const id = `run-${++count}`;
    const agent = new HttpAgent({ url: agentUrl, threadId: id });
    const input = {
      threadId: id,
      runId: id,
      messages: [{ id: `${id}-prompt`, role: "user", content }],
      tools: [],
      context: [],
      state: {},
      forwardedProps: {},
    };
    const execute = ({ writer }) =>
      new Promise((resolve, reject) => {
        // The events as they come: `runAgent` keeps messages and state as well, which costs more.
        const events = agent.run(input).subscribe({
          next: (event) => translate(writer, event),
          error: reject,
          complete: resolve,
        });
        response.on("close", () => {
          events.unsubscribe();
          resolve();
        });
      });
    pipeUIMessageStreamToResponse({ response, stream: createUIMessageStream({ execute }) });
  })
  .listen(Number(port), HOST, BACKLOG);
