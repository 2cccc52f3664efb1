// The transport of `useChat`: `ai` 5, 6 and 7 call the same two methods.
import type { ChatTransport, UIMessage } from "ai";

import type { Placed } from "./arrival.js";
import { aborted, TurnwireError } from "./errors.js";
import { type Asked, Follow } from "./follow.js";
import { BROWSER } from "./network.js";
import { type Limits, LIMITS, type StoragePort, type TransportOptions } from "./options.js";
import { Place } from "./place.js";
import { TurnwireSession } from "./session.js";
import { Store } from "./store.js";
import { type Chunks, Stream } from "./streams.js";
import { Tokens } from "./tokens.js";

/** Sessions that are remembered; the oldest are forgotten. */
const MOST_SESSIONS = 64;

type Steps = ReturnType<Follow["run"]>;

interface Request {
  chatId: string;
  abortSignal?: AbortSignal | undefined;
  headers?: HeadersInit | undefined;
  body?: object | undefined;
}

interface Prompt<M> extends Request {
  trigger: "submit-message" | "regenerate-message";
  messageId: string | undefined;
  messages: M[];
}

export class TurnwireChatTransport<M extends UIMessage = UIMessage> implements ChatTransport<M> {
  /** A resumed stream begins with all that its turn brought so far. */
  readonly resumeStreamIsReplay = true;
  readonly #options: TransportOptions;
  readonly #limits: Limits;
  readonly #tokens: Tokens;
  readonly #sessions = new Map<string, TurnwireSession>();
  readonly #streams = new Set<Stream>();
  readonly #stops = new Set<Promise<void>>();
  readonly #store = new Store();
  /** How many looks for a turn there were. */
  #looks = 0;

  constructor(options: TransportOptions = {}) {
    // A copy: a token that is at hand is of this URL, whatever the app writes into its options later.
    this.#options = { ...options };
    this.#limits = { ...LIMITS, ...options.limits };
    this.#tokens = new Tokens(options.token, options.fetch ?? ((input, init) => fetch(input, init)));
  }

  getState = this.#store.get;
  /** Called at each change of the state, and of what is unsent. Returns what ends this. */
  subscribe = this.#store.subscribe;

  /** The session of a chat. Its id may be left out if the transport has one session. */
  session(chatId?: string): TurnwireSession {
    const { sessionId } = this.#options;
    const id = typeof sessionId === "string" ? sessionId : chatId === undefined ? undefined : (sessionId?.(chatId) ?? chatId);
    if (id === undefined) throw new TurnwireError("no_session", "Which session? Give the id of its chat");
    let session = this.#sessions.get(id);
    if (session !== undefined) return session;
    const place = new Place(id, this.#options, this.#tokens, this.#limits);
    session = new TurnwireSession(place, storageOf(this.#options), this.#store.changed);
    this.#sessions.set(id, session);
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > MOST_SESSIONS && oldest !== undefined) this.#sessions.delete(oldest);
    return session;
  }

  sendMessages = async (prompt: Prompt<M>): Promise<Chunks> => {
    const { chatId, messages, trigger, messageId, headers } = prompt;
    const { unsent } = this.session(chatId);
    const last = messages.at(-1);
    const isUser = last?.role === "user";
    // One that never got there is as new as it was: no edit, and no other answer to an old one.
    const isAgain = isUser && unsent.has(last.id);
    const isNew = isUser && (isAgain || trigger === "submit-message");
    if (isNew) unsent.keep(messages);
    const body = {
      ...prompt.body,
      id: chatId,
      messages: this.#options.messages === "all" ? messages : messages.slice(-1),
      trigger: isAgain ? "submit-message" : trigger,
      ...(!isAgain && messageId !== undefined && { messageId }),
    };
    // The agent takes the next prompt when the last turn is over.
    if (this.#stops.size > 0) await this.settled();
    if (prompt.abortSignal?.aborted === true) {
      if (isNew) unsent.release(last.id, null);
      throw aborted();
    }
    const asked: Asked = { chatId, headers, body, prompt: isNew ? placed(messages, last) : undefined, continued: isUser ? undefined : last };
    return (await this.#open(prompt, asked)) as Chunks;
  };

  reconnectToStream = async (look: Request): Promise<Chunks | null> => {
    this.#looks += 1;
    return this.#open(look, { chatId: look.chatId, headers: look.headers });
  };

  /** Until every stop that is under way is over. */
  async settled(): Promise<void> {
    await Promise.all(this.#stops);
  }

  /** The user has signed out: the next request asks for a token anew. Where nobody says whose they are, the unsent prompts
   * go, too. */
  forgetToken(): void {
    this.renewToken();
    const { user } = this.#options;
    if (user === undefined || user === "") for (const { unsent } of this.#sessions.values()) unsent.clear();
  }

  /** The next request asks for a token anew: there is a newer one of the same user. */
  renewToken(): void {
    this.#tokens.forget();
  }

  /** Hang up on all streams, and stop no turn: a page, or a part of it, goes away. */
  leave(): void {
    for (const stream of this.#streams) stream.leave();
  }

  async #open(request: Request, asked: Asked): Promise<Chunks | null> {
    const session = this.session(request.chatId);
    const prompt = asked.prompt?.message;
    let begin = () => {};
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const follow = new Follow(asked, {
      place: session.place,
      limits: this.#limits,
      network: this.#options.network ?? BROWSER,
      isNative: this.#options.profile !== undefined,
      report: (line) => {
        if (this.#streams.has(stream)) this.#store.set({ line });
      },
      isThere: (history) => {
        session.unsent.settle(history);
        return prompt === undefined || !session.unsent.has(prompt.id);
      },
      accepted: () => {
        begin();
        if (prompt !== undefined) session.unsent.remove(prompt.id);
      },
      over: (error) => {
        if (prompt !== undefined) session.unsent.release(prompt.id, error instanceof TurnwireError ? error.code : null);
      },
      passed: (chunk) => session.passed(chunk),
    });
    const over = () => {
      this.#streams.delete(stream);
      if (this.#streams.size === 0) this.#store.set({ line: "idle" });
    };
    const stream: Stream = new Stream(follow, request.abortSignal, (...left) => this.#stop(session, ...left, begun), over);
    this.#streams.add(stream);
    // Until the gateway has it: what it has, its history knows.
    const release = prompt === undefined ? () => {} : session.unsent.hold(prompt.id);
    return stream.open().finally(release);
  }

  /** The user has stopped a stream: so is its turn, at the agent. */
  #stop(session: TurnwireSession, follow: Follow, steps: Steps, begun: Promise<void>): void {
    const { stopsTurns, onDisconnect } = this.#options;
    const ended = Promise.race([begun, drained(steps)]);
    ended.catch(() => {}); // Where nobody waits for it.
    const looks = this.#looks;
    const work = Promise.resolve().then(() => {
      // A chat that looks again aborts its former look in the same moment: no user has stopped that.
      const isStopped = stopsTurns !== false && looks === this.#looks;
      return isStopped ? this.#stopTurn(session, follow, ended, this.#limits.stopMs) : true;
    });
    this.#store.set({ stopping: true });
    const stop = work
      .catch(() => true) // Whether it was stopped, the history says.
      .then((isOver) => {
        // Under `continue` a prompt that waits is begun though its client has hung up. The next prompt waits behind it.
        const waits = !isOver && onDisconnect !== "abort";
        const later = waits ? this.#stopTurn(session, follow, ended, this.#limits.offlineMs) : Promise.resolve(true);
        void later.catch(() => {}).then(() => follow.leave());
        this.#stops.delete(stop);
        this.#store.set({ stopping: this.#stops.size > 0 });
      });
    this.#stops.add(stop);
  }

  /** Stop a turn that has begun, or else one that runs; `ended` resolves when it has begun, or is over. False if it has
   * not begun after so many milliseconds. */
  async #stopTurn(session: TurnwireSession, follow: Follow, ended: Promise<void>, ms: number): Promise<boolean> {
    const { turn } = follow;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<true>((resolve) => (timer = setTimeout(resolve, ms, true)));
    const isLate = await Promise.race([ended, late]).finally(() => clearTimeout(timer));
    // Without its id, another turn may be stopped.
    if (turn.messageId === undefined && isLate !== true) return true;
    if (turn.messageId === undefined && (turn.isQueued || !follow.isOpen)) return false;
    await session.stop(turn.messageId);
    return true;
  }
}

function placed(messages: readonly UIMessage[], message: UIMessage): Placed {
  return { message, before: messages.slice(0, -1).map(({ id }) => id) };
}

/** Read to the end, though nobody wants what comes. */
async function drained(steps: Steps): Promise<void> {
  while ((await steps.next()).done !== true);
}

/** The same as a function. */
export function turnwireTransport<M extends UIMessage = UIMessage>(options: TransportOptions = {}): TurnwireChatTransport<M> {
  return new TurnwireChatTransport<M>(options);
}

/** Where it is not known whose prompts these are, whoever uses the browser next would have them. And a browser may refuse
 * its storage to a page. */
function storageOf({ storage, user }: TransportOptions): StoragePort | null {
  if (storage !== undefined) return storage;
  if (user === undefined || user === "") return null;
  try {
    return globalThis.localStorage ?? null;
  } catch {
    return null;
  }
}
