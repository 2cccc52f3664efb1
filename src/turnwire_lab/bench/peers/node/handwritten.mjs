// The same without the helper: records written by hand, back-pressure by pausing the socket.
import http from "node:http";

import WebSocket from "ws";

import { BACKLOG, HOST, promptOf } from "./prompt.mjs";

const [port, agentUrl] = process.argv.slice(2);

const HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  "x-vercel-ai-ui-message-stream": "v1",
};

http
  .createServer(async (request, response) => {
    const content = await promptOf(request);
    const socket = new WebSocket(agentUrl, { perMessageDeflate: false });
    const record = (event, chunk) => {
      if (response.write(`event: ${event}\ndata: ${JSON.stringify(chunk)}\n\n`)) return;
      socket.pause();
      response.once("drain", () => socket.resume());
    };
    response.on("close", () => socket.close());
    response.writeHead(200, HEADERS);
    socket.on("open", () => socket.send(JSON.stringify({ type: "prompt", content })));
    socket.on("error", () => response.end());
    socket.on("message", (data) => {
      const frame = JSON.parse(data);
      const id = frame.turnId;
      switch (frame.type) {
        case "message.create":
          record("message-start", { type: "start", messageId: id });
          record("start-step", { type: "start-step" });
          record("text-start", { type: "text-start", id });
          break;
        case "message.part.text-delta":
          record("text-delta", { type: "text-delta", id, delta: frame.delta });
          break;
        case "message.finalize":
          record("text-end", { type: "text-end", id });
          record("finish-step", { type: "finish-step" });
          record("message-finish", { type: "finish" });
          response.end("data: [DONE]\n\n");
          socket.close();
          break;
      }
    });
  })
  .listen(Number(port), HOST, BACKLOG);
