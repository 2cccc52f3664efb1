// The texts of a message: what its reader has, and how far this connection has come.
import type { UIMessageChunk } from "ai";

import { TurnChangedError } from "./errors.js";

interface Text {
  /** What the reader has. */
  pieces: string[];
  /** What it had before this connection. */
  known: string;
  /** How much of the text this connection has brought. */
  at: number;
}

type Kind = "text" | "reasoning";

export class Texts {
  /** By `text`, `reasoning`, or the id of a call whose input comes in pieces. */
  readonly #all: Map<string, Text>;
  /** The ids of the blocks that the reader has open. */
  readonly #open: Map<Kind, string>;
  /** The starts of blocks of which nothing came yet. */
  readonly #begun = new Map<Kind, UIMessageChunk & { id: string }>();

  constructor(all = new Map<string, Text>(), open = new Map<Kind, string>()) {
    this.#all = all;
    this.#open = open;
  }

  copy(): Texts {
    const all = [...this.#all].map(([name, text]): [string, Text] => [name, { ...text, pieces: [...text.pieces] }]);
    return new Texts(new Map(all), new Map(this.#open));
  }

  rewind(): void {
    this.#begun.clear();
    for (const text of this.#all.values()) {
      text.known = text.pieces.join("");
      text.pieces = [text.known];
      text.at = 0;
    }
  }

  isBehind(name: string): boolean {
    const text = this.#all.get(name);
    return text !== undefined && text.at < text.known.length;
  }

  /** What the reader gets of a chunk of which all is new; null if it is of no text. A block begins with the first of
   * its text: a line that breaks in between leaves nothing open. */
  note(chunk: UIMessageChunk): UIMessageChunk[] | null {
    switch (chunk.type) {
      case "text-start":
      case "reasoning-start":
        this.#begun.set(kindOf(chunk.type), chunk);
        return [];
      case "text-delta":
      case "reasoning-delta": {
        const kind = kindOf(chunk.type);
        this.#text(kind).pieces.push(chunk.delta);
        return [...this.#begin(kind), chunk];
      }
      case "tool-input-delta":
        this.#text(chunk.toolCallId).pieces.push(chunk.inputTextDelta);
        return [chunk];
      case "text-end":
      case "reasoning-end": {
        const kind = kindOf(chunk.type);
        const found = [...this.#begin(kind), chunk];
        this.#open.delete(kind);
        return found;
      }
      default:
        return null;
    }
  }

  /** What is new of a chunk of a text; null if it is of none.
   *
   * Throws a `TurnChangedError` if the text is another than before. */
  new(chunk: UIMessageChunk): UIMessageChunk[] | null {
    switch (chunk.type) {
      // A block is opened for the first of its text that is new.
      case "text-start":
      case "reasoning-start":
        return [];
      case "text-delta":
      case "reasoning-delta": {
        const kind = kindOf(chunk.type);
        const delta = this.#new(kind, chunk.delta);
        return delta === "" ? [] : this.#written(kind, { ...chunk, delta });
      }
      case "tool-input-delta": {
        const inputTextDelta = this.#new(chunk.toolCallId, chunk.inputTextDelta);
        return inputTextDelta === "" ? [] : [{ ...chunk, inputTextDelta }];
      }
      case "text-end":
      case "reasoning-end": {
        const kind = kindOf(chunk.type);
        return this.isBehind(kind) ? [] : this.#end(kind);
      }
      default:
        return null;
    }
  }

  /** What closes the blocks that the reader has open. */
  close(): UIMessageChunk[] {
    return [...this.#end("reasoning"), ...this.#end("text")];
  }

  #written(kind: Kind, chunk: UIMessageChunk & { id: string }): UIMessageChunk[] {
    const open = this.#open.get(kind);
    if (open !== undefined) return [{ ...chunk, id: open } as UIMessageChunk];
    this.#open.set(kind, chunk.id);
    return [{ type: `${kind}-start`, id: chunk.id }, chunk];
  }

  #begin(kind: Kind): UIMessageChunk[] {
    const start = this.#begun.get(kind);
    if (start === undefined) return [];
    this.#begun.delete(kind);
    this.#open.set(kind, start.id);
    return [start];
  }

  #end(kind: Kind): UIMessageChunk[] {
    const id = this.#open.get(kind);
    if (id === undefined) return [];
    this.#open.delete(kind);
    return [{ type: `${kind}-end`, id }];
  }

  #new(name: string, delta: string): string {
    const text = this.#text(name);
    const known = text.known.slice(text.at, text.at + delta.length);
    text.at += delta.length;
    if (!delta.startsWith(known)) throw new TurnChangedError();
    const found = delta.slice(known.length);
    if (found !== "") text.pieces.push(found);
    return found;
  }

  #text(name: string): Text {
    let text = this.#all.get(name);
    if (text === undefined) this.#all.set(name, (text = { pieces: [], known: "", at: 0 }));
    return text;
  }
}

function kindOf(type: `${Kind}-${string}`): Kind {
  return type.startsWith("text") ? "text" : "reasoning";
}
