// One turn over all of its connections: what each brings that its reader does not have yet.
import type { UIMessage, UIMessageChunk } from "ai";

import { TurnChangedError } from "./errors.js";
import type { Item } from "./event-stream.js";
import { NO_RESULT } from "./kinds.js";
import { chunksOf, endOf } from "./replay.js";
import { Seen } from "./seen.js";

/** The gateway's fixed texts for a stream that ended early. The turn may go on. */
const MAY_GO_ON = new Set(["Gateway restarting", "Stream interrupted", "The token has expired"]);

/** The stream is that of another turn: ours is over. */
export class OtherTurn extends Error {}

export class Turn {
  readonly #seen = new Seen();
  #isConnected = false;
  /** Whether this connection has brought anything of the turn. */
  #hasBrought = false;
  /** What closes a message, and may be of a stream that ends early: the turn may go on, and then nothing is closed. */
  #held: UIMessageChunk[] = [];
  /** What the gateway stated last of a turn that may go on. */
  #interrupted: UIMessageChunk | undefined;
  /** Whether this response has stated that it ends early. */
  isInterrupted = false;
  /** The id of the answer; undefined before its `start`. */
  messageId: string | undefined;
  /** Whether the reader has the turn's end. */
  isOver = false;
  /** Whether the prompt waits behind another turn. */
  isQueued = false;

  /** `continued` is the message that its reader has, and that goes on. */
  constructor(
    private readonly isNative: boolean,
    private readonly continued?: UIMessage,
  ) {}

  /** Grows with each chunk that is new and lasts. */
  get news(): number {
    return this.#seen.news;
  }

  /** Begin to read another response. It brings the turn from its start; the first one of a message that goes on does not. */
  connect(): void {
    this.#hasBrought = this.isInterrupted = false;
    this.#held = [];
    this.#seen.rewind();
    if (this.continued === undefined || this.#isConnected) return;
    for (const chunk of chunksOf(this.continued, false)) this.#seen.take(chunk);
    this.#isConnected = true;
  }

  /** What is new of an item.
   *
   * Throws an `OtherTurn`, and a `TurnChangedError` where the reader has other words. */
  take(item: Item): UIMessageChunk[] {
    if (item === "done") return [];
    if (item !== "keepalive" && item.type === "error" && MAY_GO_ON.has(item.errorText)) {
      this.#interrupted = item;
      this.isInterrupted = true;
      this.#held = [];
      return [];
    }
    if (item !== "keepalive" && mayClose(item)) {
      this.#held.push(item);
      return [];
    }
    const held = this.#held.splice(0).flatMap((chunk) => this.#seen.take(chunk));
    return [...held, ...this.#take(item)];
  }

  /** The rest of the answer and its end, from the history. */
  *takeMessage(message: UIMessage): Generator<UIMessageChunk> {
    this.connect();
    yield* this.#start({ type: "start", messageId: message.id });
    for (const chunk of chunksOf(message, this.isNative)) yield* this.take(chunk);
    for (const chunk of endOf(message)) yield* this.take(chunk);
  }

  /** The turn is over, and nobody has its end. */
  giveUp(): UIMessageChunk[] {
    return this.#interrupted === undefined ? [] : [...this.#seen.closed(), this.#interrupted, { type: "finish" }];
  }

  #take(item: UIMessageChunk | "keepalive"): UIMessageChunk[] {
    // A response begins with one.
    if (item === "keepalive") return this.#hasBrought ? this.#seen.caughtUp() : [];
    if (item.type === "start") return this.#start(item);
    if (item.type === "error" || item.type === "abort" || item.type === "finish") return this.#end(item);
    if (item.type === "data-agent-status") this.isQueued = (item.data as { status?: unknown } | null)?.status === "queued";
    this.#hasBrought = true;
    return this.#seen.take(item);
  }

  #start(chunk: UIMessageChunk & { type: "start" }): UIMessageChunk[] {
    const { messageId, messageMetadata } = chunk;
    if (messageId === undefined) return this.#seen.news > 0 ? [] : [chunk];
    if (this.messageId !== undefined && this.messageId !== messageId) throw new OtherTurn();
    const isNew = this.messageId === undefined;
    this.messageId = messageId;
    this.isQueued = false;
    if (isNew) return [chunk];
    return messageMetadata === undefined ? [] : [{ type: "message-metadata", messageMetadata }];
  }

  #end(chunk: UIMessageChunk): UIMessageChunk[] {
    if (this.isOver) return [];
    if (chunk.type === "finish") {
      // An error may be the gateway's own, and cut the repetition short.
      if (this.#seen.hasMoreText) throw new TurnChangedError();
      this.isOver = true;
    }
    return [...this.#seen.caughtUp(), ...this.#seen.closed(), chunk];
  }
}

function mayClose(chunk: UIMessageChunk): boolean {
  if (chunk.type === "tool-output-error") return chunk.errorText === NO_RESULT;
  if (chunk.type === "data-question") return (chunk.data as { state?: unknown } | null)?.state === "expired";
  return chunk.type === "text-end" || chunk.type === "reasoning-end" || chunk.type === "finish-step";
}
