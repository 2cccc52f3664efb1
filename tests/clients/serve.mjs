// Serves recorded streams byte for byte, as a gateway would, on a loopback port of its own.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
  "x-vercel-ai-ui-message-stream": "v1",
};
// Above this many one-byte writes a test would only measure patience.
const MOST_WRITES = 4_000;

// Always the same cuts for the same bytes, so that a failure can be repeated.
function* cuts(bytes, cut) {
  if (cut === "whole") return yield bytes;
  const least = Math.ceil(bytes.length / MOST_WRITES);
  let seed = bytes.length;
  for (let at = 0; at < bytes.length; ) {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    const size = cut === "bytes" ? least : least + (seed % 97);
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function stream(response, { bytes, cut = "whole", hold = false }) {
  response.writeHead(200, HEADERS);
  response.socket.setNoDelay(true);
  for (const piece of cuts(bytes, cut)) {
    if (response.destroyed) return;
    if (!response.write(piece)) await once(response, "drain");
    // Lets the reader run between writes, or the socket would glue them together again.
    if (cut !== "whole") await new Promise(setImmediate);
  }
  if (!hold) response.end();
}

/** Start the server; `add(job)` gives the URL under which that job's stream is served. */
export async function serve() {
  const streams = [];
  const server = createServer((request, response) => {
    request.resume();
    const found = streams[Number(request.url.split("/")[1])];
    if (found) stream(response, found).catch(() => response.destroy());
    else response.writeHead(404).end("No such stream");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  return {
    add({ file, text, cut, hold }) {
      const bytes = text === undefined ? readFileSync(file) : Buffer.from(text);
      return `http://127.0.0.1:${port}/${streams.push({ bytes, cut, hold }) - 1}/chat`;
    },
  };
}
