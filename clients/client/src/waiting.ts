// What a chat is asked to send while it is not known yet whether a turn runs: it waits, and is seen.
import { type AbstractChat, convertFileListToFileUIParts, type UIMessage } from "ai";

import type { Look } from "./look.js";
import type { TurnwireSession } from "./session.js";
import { WAITING } from "./unsent.js";

type Prompt<M extends UIMessage> = NonNullable<Parameters<AbstractChat<M>["sendMessage"]>[0]>;
type Options<M extends UIMessage> = Parameters<AbstractChat<M>["sendMessage"]>[1];

export class Waiting<M extends UIMessage> {
  /** Whether a component shows the chat. Where none does, what waits stays unsent: its author may have signed out. It is
   * asked when a wait is over, since React's strict mode takes a component away and brings it back in the same moment. */
  isShown = true;
  /** How many turns wait to be begun. */
  #count = 0;
  #last: Promise<unknown> = Promise.resolve();
  #drop = new AbortController();
  readonly #listeners = new Set<() => void>();

  constructor(
    private readonly chat: AbstractChat<M>,
    private readonly session: TurnwireSession,
    private readonly look: Look<M>,
  ) {}

  isAny = (): boolean => this.#count > 0;

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  /** Send a prompt. While it waits it is unsent: it is not sent if it is forgotten, and outlives its page. */
  async send(prompt?: Prompt<M>, options?: Options<M>): Promise<void> {
    if (this.#isFree) return this.chat.sendMessage(prompt, options);
    // An edit stands at its message, and a turn that goes on has no prompt.
    if (prompt === undefined || prompt.messageId !== undefined) return this.behind(() => this.chat.sendMessage(prompt, options), undefined);
    const message = writtenOf(prompt, this.chat.generateId);
    const shown = message instanceof Promise ? message.then((each) => this.#show(each)) : Promise.resolve(this.#show(message));
    const isRead = shown.catch(() => {}); // It is thrown below.
    const { unsent } = this.session;
    const begin = async () => {
      const { message, release } = await shown;
      release();
      // While this page slept, another may have sent it.
      if (unsent.isWaiting(message.id)) await this.chat.sendMessage(message as Prompt<M>, options);
      return true;
    };
    if (await this.behind(begin, false, isRead)) return;
    const { message: dropped, release } = await shown;
    release();
    if (unsent.isWaiting(dropped.id)) unsent.release(dropped.id, WAITING);
  }

  /** Begin a turn when it is `ready`, no look is under way, and the turn that it found is over; one after the other.
   * `dropped` if it was stopped meanwhile, or nobody shows the chat any more. */
  behind<T>(begin: () => Promise<T>, dropped: T, ready?: Promise<unknown>): Promise<T> {
    if (this.#isFree) return begin();
    const former = Promise.all([this.#last, ready]);
    const { signal } = this.#drop;
    this.#wait(1);
    const begun = this.#over(former, signal).then(() => {
      this.#wait(-1);
      return signal.aborted || !this.isShown ? dropped : begin();
    });
    this.#last = begun.catch(() => {}); // Whoever asked for it gets it.
    return begun;
  }

  /** The user stops what is under way. While that is a look, no prompt that waits for it is sent: it stays unsent. */
  stop(): void {
    if (!this.look.isUnderWay) return;
    this.#drop.abort();
    this.#drop = new AbortController();
  }

  get #isFree(): boolean {
    return this.#count === 0 && !this.look.isUnderWay;
  }

  #over(former: Promise<unknown>, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        signal.removeEventListener("abort", end);
        resolve();
      };
      signal.addEventListener("abort", end);
      void former.then(() => this.look.over(this.chat)).then(end);
    });
  }

  #show(message: UIMessage) {
    const { unsent } = this.session;
    unsent.keep([...this.chat.messages, message], WAITING);
    return { message, release: unsent.hold(message.id, WAITING) };
  }

  #wait(more: 1 | -1): void {
    this.#count += more;
    for (const listener of this.#listeners) listener();
  }
}

/** The message that a chat makes of it. A promise only where there are files to read: the list of an input is empty once
 * the page clears the input. */
function writtenOf<M extends UIMessage>(prompt: Prompt<M>, generateId: () => string): UIMessage | Promise<UIMessage> {
  const { text, files, metadata, ...rest } = prompt as { text?: string; files?: FileList | UIMessage["parts"]; metadata?: unknown };
  if (text === undefined && files === undefined) return { id: generateId(), role: "user", ...rest, metadata } as UIMessage;
  const message = (read: UIMessage["parts"]): UIMessage => ({
    id: generateId(),
    role: "user",
    parts: [...read, ...(text === undefined ? [] : [{ type: "text" as const, text }])],
    metadata,
  });
  return files === undefined || Array.isArray(files) ? message(files ?? []) : convertFileListToFileUIParts(files).then(message);
}
