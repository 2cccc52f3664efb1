// An agent that speaks Chat Completions, read and written by hand; back-pressure by pausing it.
import http from "node:http";

import { BACKLOG, HOST, promptOf } from "./prompt.mjs";

const [port, agentUrl] = process.argv.slice(2);

const HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  "x-vercel-ai-ui-message-stream": "v1",
};
const CALL = {
  agent: new http.Agent({ keepAlive: true }),
  method: "POST",
  headers: { "content-type": "application/json" },
};

const record = (event, chunk) => `event: ${event}\ndata: ${JSON.stringify(chunk)}\n\n`;

function translate(data) {
  if (data === "[DONE]") return "data: [DONE]\n\n";
  const { id, choices } = JSON.parse(data);
  const [{ delta, finish_reason: reason }] = choices;
  if (reason)
    return (
      record("text-end", { type: "text-end", id }) +
      record("finish-step", { type: "finish-step" }) +
      record("message-finish", { type: "finish" })
    );
  if (delta.role)
    return (
      record("message-start", { type: "start", messageId: id }) +
      record("start-step", { type: "start-step" }) +
      record("text-start", { type: "text-start", id })
    );
  return record("text-delta", { type: "text-delta", id, delta: delta.content });
}

http
  .createServer(async (request, response) => {
    const content = await promptOf(request);
    response.writeHead(200, HEADERS);
    const call = http.request(agentUrl, CALL, (answer) => {
      let rest = "";
      answer.setEncoding("utf8");
      answer.on("data", (text) => {
        const events = (rest + text).split("\n\n");
        rest = events.pop();
        const records = events.map((event) => translate(event.slice("data: ".length))).join("");
        if (response.write(records)) return;
        answer.pause();
        response.once("drain", () => answer.resume());
      });
      answer.on("end", () => response.end());
      answer.on("error", () => response.end());
      response.on("close", () => answer.complete || call.destroy());
    });
    call.on("error", () => response.end());
    call.end(JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content }] }));
  })
  .listen(Number(port), HOST, BACKLOG);
