// What a client expects of a stream beyond what the SDK's transport looks at.
import type { UIMessage, UIMessageChunk } from "ai";

import { CutShort } from "./errors.js";

export type Chunks = ReadableStream<UIMessageChunk>;

/** How a turn ended that did not end by itself: as the gateway's history states it. */
export interface Finish {
  reason: string;
  errorText?: string;
}

export function finishOf(message: UIMessage | undefined): Finish | undefined {
  return (message?.metadata as { finish?: Finish } | undefined)?.finish;
}

/** The same chunks, which fail if they end without `finish`; the message gets the metadata that its
 * history will have. `begins` is called once, when the turn has begun, with its id if it has one. */
export function whole(chunks: Chunks, begins: (turnId: string | undefined) => void): Chunks {
  let begun = false;
  let named = false;
  let finished = false;
  return chunks.pipeThrough(
    new TransformStream<UIMessageChunk, UIMessageChunk>({
      transform(chunk, controller) {
        if (!begun && isOfTurn(chunk)) {
          begun = true;
          begins(chunk.type === "start" ? chunk.messageId : undefined);
        }
        finished ||= chunk.type === "finish";
        named ||= chunk.type === "start" && chunk.messageId !== undefined;
        const finish = endOf(chunk);
        if (named && finish !== null) controller.enqueue({ type: "message-metadata", messageMetadata: { finish } });
        controller.enqueue(chunk);
      },
      flush(controller) {
        if (!finished) controller.error(new CutShort());
      },
    }),
  );
}

interface Watcher {
  /** The body has brought something. */
  lives(): void;
  /** It has brought nothing for as long as it may, not even a keepalive. */
  silent(): void;
}

/** The same response, whose body may bring nothing for `ms` milliseconds. */
export function watched(response: Response, ms: number, { lives, silent }: Watcher): Response {
  const type = response.headers.get("content-type") ?? "";
  if (!response.ok || response.body === null || !type.startsWith("text/event-stream")) return response;
  const reader = response.body.getReader();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const body = new ReadableStream<Uint8Array>({
    // The clock runs only while the body is waited for: a client that reads slowly is not a silent line.
    async pull(controller) {
      timer = setTimeout(silent, ms);
      try {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        lives();
        controller.enqueue(value);
      } catch (error) {
        controller.error(error);
      } finally {
        clearTimeout(timer);
      }
    },
    cancel(reason) {
      clearTimeout(timer);
      return reader.cancel(reason);
    },
  });
  return new Response(body, { status: response.status, headers: response.headers });
}

/** Whether this is of a turn. What the gateway itself says of one that never began has no id. */
function isOfTurn(chunk: UIMessageChunk): boolean {
  return chunk.type === "start" ? chunk.messageId !== undefined : chunk.type.endsWith("-start");
}

function endOf(chunk: UIMessageChunk): Finish | null {
  if (chunk.type === "abort") return { reason: "canceled" };
  return chunk.type === "error" ? { reason: "error", errorText: chunk.errorText } : null;
}
