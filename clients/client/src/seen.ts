// Which chunks of a turn that is read again its reader does not have yet.
//
// A resumed stream brings the turn from its start: what came before the break in other pieces (the text
// so far is one delta), or in other places (a tool's output that came meanwhile stands at its call). So:
//
// - texts are compared by their length: of each delta only what is longer than before is new;
// - calls go by their id and how far they got; files, sources, steps and data without an id by number;
// - data with an id is new where its value is another. While the stream is behind, a value may be an
//   older one, which a newer one follows: only the last one counts.
//
// What is new is written into the block that the reader has open, if it has one.
import type { UIMessageChunk } from "ai";

import { TurnChangedError } from "./errors.js";
import { idOf, isFlat, isLasting, isOpenQuestion, isTransient, stageOf, valueOf } from "./kinds.js";
import { Texts } from "./text-blocks.js";

interface Marks {
  texts: Texts;
  stages: Map<string, number>;
  counts: Map<string, number>;
}

/** What the reader has of one turn, over all of its connections. */
export class Seen {
  #marks: Marks = { texts: new Texts(), stages: new Map(), counts: new Map() };
  /** As of the last step's start, where `reset-step` goes back to. */
  #step: Marks | null = null;
  #countsHere = new Map<string, number>();
  /** The last value of each data part with an id, and of each preliminary output. */
  readonly #values = new Map<string, string>();
  /** Values of known parts that came while this connection was behind. */
  readonly #waiting = new Map<string, UIMessageChunk>();
  #isResumed = false;
  #isBehind = false;
  /** How many new chunks there were. */
  news = 0;

  /** Whether this connection has less of the answer's text than the reader. */
  get hasMoreText(): boolean {
    return this.#marks.texts.isBehind("text");
  }

  /** Begin another connection, which brings the turn from its start. */
  rewind(): void {
    this.#marks.texts.rewind();
    this.#countsHere = new Map();
    this.#waiting.clear();
    this.#isResumed = this.#isBehind = this.news > 0;
  }

  /** What is new of a chunk, after what waited for it. */
  take(chunk: UIMessageChunk): UIMessageChunk[] {
    const found = this.#isResumed ? this.#new(chunk) : (this.#marks.texts.note(chunk) ?? [this.#note(chunk)]);
    if (found.length === 0 || !isLasting(chunk)) return found;
    this.news += 1;
    return [...this.caughtUp(), ...found];
  }

  /** The connection has brought all that was known: the values that waited. */
  caughtUp(): UIMessageChunk[] {
    this.#isBehind = false;
    const waited = [...this.#waiting].filter(([key, chunk]) => this.#isOther(key, chunk));
    this.#waiting.clear();
    for (const [key, chunk] of waited) this.#values.set(key, valueOf(chunk));
    this.news += waited.length;
    return waited.map(([, chunk]) => chunk);
  }

  /** What closes the blocks that the reader has open: a turn ends, or something else begins. */
  closed(): UIMessageChunk[] {
    return this.#isResumed ? this.#marks.texts.close() : [];
  }

  /** The turn's first connection: all of it is new. */
  #note(chunk: UIMessageChunk): UIMessageChunk {
    const { texts, stages, counts } = this.#marks;
    const id = idOf(chunk);
    const stage = stageOf(chunk);
    if (stage !== null) stages.set(id, Math.max(stage, stages.get(id) ?? -1));
    else if (chunk.type === "reset-step") this.#marks = this.#step ?? this.#marks;
    else if (isFlat(chunk)) this.#count(chunk.type, counts);
    if (isOpenQuestion(chunk)) this.#count(`question ${id}`, counts);
    if (chunk.type.startsWith("data-") && id !== "") this.#values.set(`${chunk.type} ${id}`, valueOf(chunk));
    if (chunk.type === "start-step") this.#step = { texts: texts.copy(), stages: new Map(stages), counts: new Map(counts) };
    return chunk;
  }

  #new(chunk: UIMessageChunk): UIMessageChunk[] {
    const { texts, stages } = this.#marks;
    const text = texts.new(chunk);
    if (text !== null) return text;
    const stage = stageOf(chunk);
    if (stage !== null) {
      const former = stages.get(idOf(chunk)) ?? -1;
      stages.set(idOf(chunk), Math.max(stage, former));
      return stage > former || this.#isOtherPreview(chunk, former) ? [...texts.close(), chunk] : [];
    }
    if (chunk.type === "reset-step") throw new TurnChangedError();
    if (chunk.type.startsWith("data-")) return this.#data(chunk);
    if (!isFlat(chunk)) return [chunk];
    if (this.#isCounted(chunk.type)) return [];
    return [...texts.close(), this.#note(chunk)];
  }

  #data(chunk: UIMessageChunk): UIMessageChunk[] {
    if (isTransient(chunk)) return this.#isBehind ? [] : [chunk];
    const id = idOf(chunk);
    if (id === "") return this.#isCounted(chunk.type) ? [] : [this.#note(chunk)];
    const key = `${chunk.type} ${id}`;
    if (isOpenQuestion(chunk)) {
      // A question that is closed is asked and closed once more.
      const isKnown = this.#isCounted(`question ${id}`);
      if (!isKnown) this.#count(`question ${id}`, this.#marks.counts);
      else if (this.#values.get(key)?.includes('"state":"open"') !== true) return [];
    }
    if (this.#isBehind && this.#values.has(key)) {
      this.#waiting.set(key, chunk);
      return [];
    }
    if (!this.#isOther(key, chunk)) return [];
    this.#values.set(key, valueOf(chunk));
    return [chunk];
  }

  /** Whether the reader has as many of these as this connection has brought now. */
  #isCounted(kind: string): boolean {
    return this.#count(kind, this.#countsHere) <= (this.#marks.counts.get(kind) ?? 0);
  }

  #count(kind: string, counts: Map<string, number>): number {
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return count;
  }

  #isOther(key: string, chunk: UIMessageChunk): boolean {
    return this.#values.get(key) !== valueOf(chunk);
  }

  /** Whether it is another preliminary output of a call that has no final one. */
  #isOtherPreview(chunk: UIMessageChunk, former: number): boolean {
    if (chunk.type !== "tool-output-available" || chunk.preliminary !== true || (stageOf(chunk) ?? 0) < former) return false;
    const key = `preview ${chunk.toolCallId}`;
    const isOther = this.#values.get(key) !== JSON.stringify(chunk.output);
    this.#values.set(key, JSON.stringify(chunk.output));
    return isOther;
  }
}
