// The SDK's transport to one session: a slot for each stream, a watchdog, and a look that can be given up.
import { type ChatTransport, DefaultChatTransport, type UIMessage } from "ai";

import { LATE_MS } from "./endpoint.js";
import { CutShort, FellSilent, NoSlot } from "./errors.js";
import type { Slots } from "./ports.js";
import { type Chunks, watched, whole } from "./streams.js";

type Prompt = Parameters<ChatTransport<UIMessage>["sendMessages"]>[0];
type Look = Parameters<ChatTransport<UIMessage>["reconnectToStream"]>[0];

/** What a line tells its session. */
export interface Heard {
  /** A prompt, or the answer to an approval, is about to go out. */
  sending(prompt: Prompt): void;
  /** The gateway took a request for a stream. */
  accepted(): void;
  /** The stream has brought something, if only a keepalive. */
  lives(): void;
  /** The turn of a stream has begun, with its id if the stream has one. */
  began(turnId: string | undefined): void;
  /** A turn runs, and its stream is here. */
  follows(): void;
}

interface Parts {
  api: string;
  send: typeof fetch;
  headers: Record<string, string>;
  silenceMs: number;
  slots: Slots | undefined;
  /** Whether a prompt goes out with all that was said before. */
  sendsAll: () => boolean;
}

export class Line implements ChatTransport<UIMessage> {
  /** A resumed stream begins with all that its turn brought so far. */
  readonly resumeStreamIsReplay = true;
  /** Whether the last look had no slot. */
  crowded = false;
  /** Whether the stream is of a turn that ran already. */
  follower = false;
  readonly #inner: DefaultChatTransport<UIMessage>;
  #cut = new AbortController();
  #look = new AbortController();
  #giveBack: (() => void) | null = null;

  constructor(
    private readonly parts: Parts,
    private readonly heard: Heard,
  ) {
    this.#inner = new DefaultChatTransport<UIMessage>({
      api: parts.api,
      headers: parts.headers,
      fetch: (input, init) => this.#fetch(input, init),
      // Where the agent owns the history, only the last message is read.
      prepareSendMessagesRequest: ({ id, messages, trigger, messageId }) => ({
        body: { id, messages: parts.sendsAll() ? messages : messages.slice(-1), trigger, messageId },
      }),
    });
  }

  sendMessages = async (prompt: Prompt): Promise<Chunks> => {
    this.heard.sending(prompt);
    const slot = await this.#slot(false);
    if (slot === null) throw new NoSlot();
    this.follower = false;
    const stream = await this.#holding(slot, this.#inner.sendMessages(prompt));
    return whole(stream, (turnId) => this.heard.began(turnId));
  };

  reconnectToStream = async (look: Look): Promise<Chunks | null> => {
    const given = new AbortController();
    this.#look = given;
    const slot = await this.#slot(true);
    this.crowded = slot === null;
    if (slot === null) return null;
    const abortSignal = either(given.signal, look.abortSignal);
    const late = setTimeout(() => given.abort(new TypeError("No answer")), LATE_MS);
    const opening = this.#inner.reconnectToStream({ ...look, abortSignal }).finally(() => clearTimeout(late));
    const stream = await this.#holding(slot, opening);
    if (stream === null) return null;
    this.follower = true;
    this.heard.follows();
    return whole(stream, (turnId) => this.heard.began(turnId));
  };

  /** Give up a look that is under way. */
  giveUpLook(): void {
    this.#look.abort();
  }

  /** Fail the stream that is open: nobody is there any more. */
  cut(): void {
    this.#cut.abort(new CutShort());
  }

  /** The stream is over: another may have its slot. */
  giveBack(): void {
    this.#giveBack?.();
    this.#giveBack = null;
  }

  async #slot(follows: boolean): Promise<(() => void) | null> {
    return this.parts.slots === undefined ? () => {} : this.parts.slots.take(follows);
  }

  /** The stream, and its slot for as long as it lasts. */
  async #holding<T>(giveBack: () => void, opening: Promise<T>): Promise<T> {
    const stream = await opening.catch((error: unknown) => {
      giveBack();
      throw error;
    });
    if (stream === null) giveBack();
    else this.#giveBack = giveBack;
    return stream;
  }

  async #fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
    const cut = new AbortController();
    this.#cut = cut;
    const response = await this.parts.send(input, { ...init, signal: either(cut.signal, init?.signal) });
    if (response.status === 200) this.heard.accepted();
    const silent = () => cut.abort(new FellSilent());
    return watched(response, this.parts.silenceMs, { silent, lives: () => this.heard.lives() });
  }
}

function either(one: AbortSignal, other: AbortSignal | null | undefined): AbortSignal {
  return other ? AbortSignal.any([one, other]) : one;
}
