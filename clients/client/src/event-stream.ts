// The bytes of a response as chunks of the AI SDK. A comment is a keepalive, and `[DONE]` the end.
import type { UIMessageChunk } from "ai";

import { TurnwireError } from "./errors.js";

export type Item = UIMessageChunk | "keepalive" | "done";

/** Characters of an event. A file of an answer comes as one event, as a `data:` URL. */
const EVENT_MAX = 16 * 1024 * 1024;

/** One stream of server-sent events. */
export class EventStream {
  readonly #decoder = new TextDecoder();
  /** What came of the line that is not whole yet, in pieces. */
  #line: string[] = [];
  #data: string[] = [];
  /** Characters in both. */
  #size = 0;

  /** What these bytes complete.
   *
   * Throws a `TurnwireError` where it is no UI message stream, or larger than the bound. */
  feed(bytes: Uint8Array): Item[] {
    const found: Item[] = [];
    const lines = this.#decoder.decode(bytes, { stream: true }).split("\n");
    for (const [number, text] of lines.entries()) {
      this.#line.push(text);
      this.#size += text.length;
      if (this.#size > EVENT_MAX) throw malformed("an event is too large");
      if (number === lines.length - 1) break;
      const line = this.#line.join("").replace(/\r$/, "");
      this.#line = [];
      const item = this.#take(line);
      if (item !== null) found.push(item);
    }
    return found;
  }

  #take(line: string): Item | null {
    if (line.startsWith("data:")) this.#data.push(line.slice(line[5] === " " ? 6 : 5));
    if (this.#data.length === 0) this.#size = 0;
    if (line.startsWith(":")) return "keepalive";
    if (line !== "" || this.#data.length === 0) return null;
    const data = this.#data.join("\n");
    this.#data = [];
    this.#size = 0;
    return data === "[DONE]" ? "done" : chunkOf(data);
  }
}

function chunkOf(data: string): UIMessageChunk {
  let found: unknown;
  try {
    found = JSON.parse(data);
  } catch {
    throw malformed("an event is no JSON");
  }
  if (typeof (found as { type?: unknown } | null)?.type === "string") return found as UIMessageChunk;
  throw malformed("an event has no type");
}

function malformed(why: string): TurnwireError {
  return new TurnwireError("malformed", `The answer is no UI message stream: ${why}`);
}
