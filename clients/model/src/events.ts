// Bytes of an event stream in, parts out, whatever way the bytes are cut.
import type { Part } from "./wire.js";

/** Most characters of one event: the largest is a file that the model made. */
export const EVENT_MAX = 128 * 1024 * 1024;
const DATA = "data:";

export class Events {
  readonly #decoder = new TextDecoder();
  #rest = "";

  /** Parts that are whole. It throws for what is no event of ours, after those before it. */
  *feed(bytes: Uint8Array): Generator<Part, void> {
    const text = this.#decoder.decode(bytes, { stream: true });
    const end = text.lastIndexOf("\n");
    if (end < 0) {
      this.#rest += text;
      if (this.#rest.length > EVENT_MAX) throw new Error("an event is too long");
      return;
    }
    const lines = (this.#rest + text.slice(0, end)).split("\n");
    this.#rest = text.slice(end + 1);
    // An event of ours is one line; the others are empty, or comments that keep the connection open.
    for (const line of lines) {
      if (line.startsWith(DATA)) yield JSON.parse(line.slice(DATA.length)) as Part;
    }
  }
}
