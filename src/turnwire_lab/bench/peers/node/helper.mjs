// The reference helper of the AI SDK: createUIMessageStream, piped into a Node response.
import http from "node:http";

import { createUIMessageStream, pipeUIMessageStreamToResponse } from "ai";
import WebSocket from "ws";

import { BACKLOG, HOST, promptOf } from "./prompt.mjs";

const [port, agentUrl] = process.argv.slice(2);

function translate(writer, frame) {
  switch (frame.type) {
    case "message.create":
      writer.write({ type: "start", messageId: frame.turnId });
      writer.write({ type: "start-step" });
      writer.write({ type: "text-start", id: frame.turnId });
      return false;
    case "message.part.text-delta":
      writer.write({ type: "text-delta", id: frame.turnId, delta: frame.delta });
      return false;
    case "message.finalize":
      writer.write({ type: "text-end", id: frame.turnId });
      writer.write({ type: "finish-step" });
      writer.write({ type: "finish" });
      return true;
    default:
      return false;
  }
}

http
  .createServer(async (request, response) => {
    const content = await promptOf(request);
    const execute = ({ writer }) =>
      new Promise((resolve, reject) => {
        const socket = new WebSocket(agentUrl, { perMessageDeflate: false });
        response.on("close", () => socket.close());
        socket.on("open", () => socket.send(JSON.stringify({ type: "prompt", content })));
        socket.on("error", reject);
        socket.on("close", resolve);
        socket.on("message", (data) => {
          if (!translate(writer, JSON.parse(data))) return;
          socket.close();
          resolve();
        });
      });
    pipeUIMessageStreamToResponse({ response, stream: createUIMessageStream({ execute }) });
  })
  .listen(Number(port), HOST, BACKLOG);
