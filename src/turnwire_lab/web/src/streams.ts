// What the page expects of a stream beyond what the transport looks at.
import type { UIMessageChunk } from "ai";

export class CutShort extends Error {
  constructor() {
    super("The stream ended without an ending");
    this.name = "CutShort";
  }
}

/** The same chunks; `aborted` is called for the one that says that the turn was stopped, which
 * leaves no trace in a message. */
export function heard(chunks: ReadableStream<UIMessageChunk>, aborted: () => void): ReadableStream<UIMessageChunk> {
  return chunks.pipeThrough(
    new TransformStream<UIMessageChunk, UIMessageChunk>({
      transform(chunk, controller) {
        if (chunk.type === "abort") aborted();
        controller.enqueue(chunk);
      },
    }),
  );
}

const DONE = "data: [DONE]";
// The demo's gateway says something at least every 5 s: after this there is nobody any more, though
// the browser was not told.
const SILENCE_MS = 20_000;

/** The same response, whose body fails if it ends before the stream said that it is over; `silent`
 * is called if it says nothing for long. */
export function wholeOrFailed(response: Response, silent: () => void): Response {
  const type = response.headers.get("content-type") ?? "";
  if (!response.ok || response.body === null || !type.startsWith("text/event-stream")) return response;
  const decoder = new TextDecoder();
  let tail = "";
  let timer = setTimeout(silent, SILENCE_MS);
  const body = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        clearTimeout(timer);
        timer = setTimeout(silent, SILENCE_MS);
        tail = (tail + decoder.decode(piece, { stream: true })).slice(-64);
        controller.enqueue(piece);
      },
      flush(controller) {
        clearTimeout(timer);
        if (!tail.includes(DONE)) controller.error(new CutShort());
      },
    }),
  );
  return new Response(body, { status: response.status, headers: response.headers });
}
