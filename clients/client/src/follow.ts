// One turn as a conversation with the gateway: prompt, stream, and what follows a broken line.
//
// - `GET …/stream` brings the running turn from its start, with the same message id, or 204. So a stream is asked for
//   again after a break, and `Turn` says what is new.
// - After 204 the turn is over, and the history has all of it, with its end.
// - A prompt may be sent twice only if the gateway cannot have the first one, and a browser cannot know that. So it is
//   never sent twice here: if the line broke before the answer began, the history says whether the agent has the message.
import type { UIMessage, UIMessageChunk } from "ai";

import type { Placed } from "./arrival.js";
import { itemsOf } from "./connection.js";
import { aborted, refusalOf, RefusedError, TurnwireError } from "./errors.js";
import type { Network } from "./network.js";
import type { Limits } from "./options.js";
import type { Place } from "./place.js";
import { answerIn } from "./replay.js";
import { Retries, type Waiting } from "./retries.js";
import { either } from "./signals.js";
import { OtherTurn, Turn } from "./turn.js";

/** A request that is answered so may work a moment later: a gateway restarts, for example. */
const OVERLOADED = new Set([429, 502, 503, 504]);

export interface Asked {
  chatId: string;
  headers: HeadersInit | undefined;
  /** The body of a prompt; a turn is resumed without one. */
  body?: unknown;
  /** The prompt, if it is a new one. */
  prompt?: Placed | undefined;
  /** The answer that goes on, if what is sent belongs to it: the response to an approval. */
  continued?: UIMessage | undefined;
}

export interface Surroundings {
  place: Place;
  limits: Limits;
  network: Network;
  isNative: boolean;
  report: (state: Waiting | "open") => void;
  /** Whether the agent has the prompt, by its history. */
  isThere: (history: readonly UIMessage[]) => boolean;
  /** The agent has the prompt. */
  accepted: () => void;
  /** Nothing more comes, since all of it came, or because of this. */
  over: (error: unknown) => void;
  /** The reader gets this. */
  passed: (chunk: UIMessageChunk) => void;
}

/** `opened` is the first value once the gateway has taken the request, or may have; `nothing` is the only one where
 * no turn is to be resumed. */
type Step = UIMessageChunk | "opened" | "nothing";

export class Follow {
  readonly turn: Turn;
  /** Whether a response is read now: the gateway has the turn, and it runs or waits. */
  isOpen = false;
  readonly #cut = new AbortController();
  readonly #retries: Retries;
  #failure = new TurnwireError("connection_lost", "The connection broke, and every retry failed");

  constructor(
    private readonly asked: Asked,
    private readonly around: Surroundings,
  ) {
    this.turn = new Turn(around.isNative, asked.continued);
    this.#retries = new Retries(around.limits, around.network, this.#cut.signal, around.report);
  }

  /** Hang up, and ask for nothing more. */
  leave(): void {
    this.#cut.abort();
  }

  async *run(): AsyncGenerator<Step> {
    let failure: unknown = null;
    try {
      yield* this.#steps();
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      this.around.over(failure);
    }
  }

  async *#steps(): AsyncGenerator<Step> {
    const isResumed = this.asked.body === undefined;
    const response = isResumed ? await this.#running() : await this.#post();
    if (isResumed && response === null) return yield "nothing";
    yield "opened";
    if (response !== null) yield* this.#read(response);
    try {
      yield* this.#recover();
    } catch (error) {
      // Where nothing else is known, what the gateway stated is the end.
      const end = error === this.#failure ? this.turn.giveUp() : [];
      if (end.length === 0) throw error;
      yield* end;
    }
  }

  /** The open stream; null if the gateway may have the prompt, and did not answer. */
  async #post(): Promise<Response | null> {
    const { asked, around } = this;
    let response: Response;
    try {
      response = await around.place.prompt(asked.body, asked.headers, this.#cut.signal);
    } catch (error) {
      if (error instanceof TurnwireError || this.#cut.signal.aborted) throw error;
      return null;
    }
    if (!response.ok) throw await refusalOf(response);
    return response;
  }

  /** What the open stream brings, until it ends or breaks; false if it is that of another turn. */
  async *#read(response: Response): AsyncGenerator<UIMessageChunk, boolean> {
    const { turn, around } = this;
    const { news } = turn;
    const opened = performance.now();
    let livedMs = 0;
    turn.connect();
    around.report("open");
    this.isOpen = true;
    try {
      for await (const item of itemsOf(response, around.limits.silenceMs, around.network, this.#cut.signal)) {
        livedMs = performance.now() - opened;
        yield* this.#passed(turn.take(item));
        if (turn.isInterrupted) break;
      }
    } catch (error) {
      if (error instanceof OtherTurn) return false;
      throw error;
    } finally {
      this.isOpen = false;
      // A turn may bring nothing new for an hour, while a proxy ends each connection after a minute.
      if (turn.news > news || livedMs >= around.limits.livesMs) this.#retries.wasSound();
    }
    return true;
  }

  /** Bring a turn to its end whose connection broke. */
  async *#recover(): AsyncGenerator<UIMessageChunk> {
    const { turn, asked, around } = this;
    while (!turn.isOver) {
      await this.#retries.wait(this.#failure);
      if (turn.messageId === undefined && asked.prompt !== undefined) {
        // The running turn may be the answer to another prompt.
        const history = await this.#history();
        if (history !== null && !around.isThere(history)) {
          this.#failure = new TurnwireError("not_sent", "The connection broke, and the agent does not have the prompt");
          continue;
        }
        if (yield* this.#takeFrom(history)) return;
      }
      const response = await this.#running();
      if (response !== null && (yield* this.#read(response))) continue;
      const history = await this.#history();
      if (yield* this.#takeFrom(history)) return;
      this.#failure = new TurnwireError("turn_lost", "The connection broke, and nobody has the rest of the answer");
      if (history === null) throw this.#failure;
    }
  }

  /** The rest of the answer and its end; false if it is not in the history. */
  async *#takeFrom(history: readonly UIMessage[] | null): AsyncGenerator<UIMessageChunk, boolean> {
    const { turn, asked } = this;
    const message = answerIn(history ?? [], turn.messageId ?? asked.continued?.id, asked.prompt);
    if (message === undefined) return false;
    for (const chunk of turn.takeMessage(message)) yield* this.#passed([chunk]);
    return true;
  }

  *#passed(chunks: UIMessageChunk[]): Generator<UIMessageChunk> {
    for (const chunk of chunks) {
      if (chunk.type === "start" && chunk.messageId !== undefined) this.around.accepted();
      this.around.passed(chunk);
      yield chunk;
    }
  }

  /** The stream of the turn that runs or waits; null if there is none. */
  #running(): Promise<Response | null> {
    return this.#ask(async (signal) => {
      const response = await this.around.place.stream(this.asked.chatId, this.asked.headers, signal);
      if (response.status === 204) return null;
      if (!response.ok) throw await refusalOf(response);
      return response;
    });
  }

  #history(): Promise<UIMessage[] | null> {
    return this.#ask((signal) => this.around.place.history({ finish: true }, signal));
  }

  /** Ask for what changes nothing, again and again until it is answered. */
  async #ask<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { limits } = this.around;
    for (;;) {
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(new DOMException("No answer", "TimeoutError")), limits.replyMs);
      try {
        return await ask(either(late.signal, this.#cut.signal));
      } catch (error) {
        if (this.#cut.signal.aborted) throw aborted();
        await this.#retries.wait(this.#mayWorkLater(error));
      } finally {
        clearTimeout(timer);
      }
    }
  }

  /** What is thrown where no retry is left; throws at once what would only fail again. */
  #mayWorkLater(error: unknown): TurnwireError {
    if (!(error instanceof TurnwireError)) return this.#failure;
    const mayWork = error instanceof RefusedError ? OVERLOADED.has(error.status) : error.code === "no_token";
    if (mayWork) return error;
    throw error;
  }
}
