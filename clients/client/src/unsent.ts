// Prompts that the agent may not have, until it is known that it has them.
import type { UIMessage } from "ai";

import { arrived } from "./arrival.js";
import type { StoragePort } from "./options.js";

export interface UnsentPrompt {
  message: UIMessage;
  /** The ids of the messages that stood before it, the newest of them. */
  before: string[];
  /** Why it was not taken; null while that is not known. `waiting`: it was not sent yet. */
  code: string | null;
  /** Until when the page that sends it has it for itself, in milliseconds of the epoch; 0 if none does. */
  until: number;
}

/** The oldest are forgotten. */
const MOST = 50;
const MOST_BEFORE = 100;
/** Of a prompt that waits until it is known whether a turn runs. */
export const WAITING = "waiting";
/** A page that went away cannot give a prompt back. One that is there has it for itself again and again. */
const SENDING_MS = 20_000;

export class Unsent {
  /** What no storage took: there is none, or it is full. */
  #memory: UnsentPrompt[] = [];
  #shown: readonly UnsentPrompt[] = [];
  /** What `#shown` was read from. It is asked for with every chunk that is shown, and may have files in it. */
  #source: { text: string | null; memory: readonly UnsentPrompt[] } | null = null;

  constructor(
    private readonly storage: StoragePort | null,
    private readonly key: string,
    private readonly changed: () => void,
  ) {}

  /** The oldest is the first. The same array until something changes. */
  list = (): readonly UnsentPrompt[] => {
    const text = this.#text();
    if (this.#source?.text === text && this.#source.memory === this.#memory) return this.#shown;
    this.#source = { text, memory: this.#memory };
    const found = this.#read(text);
    if (JSON.stringify(found) !== JSON.stringify(this.#shown)) this.#shown = found;
    return this.#shown;
  };

  has(id: string): boolean {
    return this.#read().some(({ message }) => message.id === id);
  }

  /** Whether no page has sent it yet. The agent may have one that was. */
  isWaiting(id: string): boolean {
    return this.#read().some(({ message, code }) => message.id === id && code === WAITING);
  }

  /** `messages` ends with a prompt that is about to be sent, or that waits. */
  keep(messages: readonly UIMessage[], code: typeof WAITING | null = null): void {
    const message = messages.at(-1);
    if (message === undefined) return;
    const before = messages.slice(0, -1).map(({ id }) => id);
    const others = this.#read().filter((each) => each.message.id !== message.id);
    this.#write([...others, { message, before: before.slice(-MOST_BEFORE), code, until: Date.now() + SENDING_MS }].slice(-MOST));
  }

  /** It is being sent, or waits: no other page may send it. One that another page took all the same, while this one slept,
   * is that page's. Returns what ends this. */
  hold(id: string, code: typeof WAITING | null = null): () => void {
    const isHeld = (each: UnsentPrompt) => each.message.id === id && each.code === code && each.until > 0;
    const timer = setInterval(() => {
      const found = this.#read();
      if (found.some(isHeld)) this.#write(found.map((each) => (isHeld(each) ? { ...each, until: Date.now() + SENDING_MS } : each)));
    }, SENDING_MS / 4);
    return () => clearInterval(timer);
  }

  /** It is not being sent any more. */
  release(id: string, code: string | null): void {
    if (this.has(id)) this.#write(this.#read().map((each) => (each.message.id === id ? { ...each, code, until: 0 } : each)));
  }

  /** The agent has it, or whoever wrote it does not want it any more. */
  remove(id: string): void {
    const found = this.#read();
    if (found.some(({ message }) => message.id === id)) this.#write(found.filter(({ message }) => message.id !== id));
  }

  /** Forget all that is in memory alone. */
  clear(): void {
    if (this.storage === null) this.#write([]);
  }

  /** Take one, to send it; null if it is not there, or is being sent, by this page or by another. */
  take(id: string): UnsentPrompt | null {
    const found = this.#read().find(({ message }) => message.id === id);
    if (found === undefined) return null;
    const ms = found.until - Date.now();
    // More than that is a clock that was set back.
    if (ms > 0 && ms <= SENDING_MS) return null;
    this.remove(id);
    return found;
  }

  /** The agent has what is in its history; the others are returned. */
  settle(history: readonly UIMessage[]): readonly UnsentPrompt[] {
    const found = this.#read();
    // One that was sent nowhere is in no history, though another with the same text may be.
    const there = arrived(found.filter(({ code }) => code !== WAITING), history);
    if (there.size > 0) this.#write(found.filter((each) => !there.has(each)));
    return this.list();
  }

  #text(): string | null {
    try {
      return this.storage?.getItem(this.key) ?? null;
    } catch {
      return null;
    }
  }

  #read(text = this.#text()): UnsentPrompt[] {
    try {
      const stored: unknown = text === null ? [] : JSON.parse(text);
      if (Array.isArray(stored)) return [...stored.filter(isPrompt), ...this.#memory];
    } catch {
      // What cannot be read is not there.
    }
    return [...this.#memory];
  }

  #write(prompts: UnsentPrompt[]): void {
    this.#memory = [];
    try {
      if (this.storage === null) this.#memory = prompts;
      else this.#store(this.storage, prompts);
    } catch {
      // What the storage still has would be there twice.
      this.#forget();
      this.#memory = this.#withoutStored(prompts);
    }
    this.changed();
  }

  #store(storage: StoragePort, prompts: readonly UnsentPrompt[]): void {
    if (prompts.length === 0) storage.removeItem(this.key);
    else storage.setItem(this.key, JSON.stringify(prompts));
  }

  /** Store those for which there is room: a large one does not take the others with it when its page goes. */
  #withoutStored(prompts: readonly UnsentPrompt[]): UnsentPrompt[] {
    const stored: UnsentPrompt[] = [];
    return prompts.filter((prompt) => {
      try {
        if (this.storage !== null) this.#store(this.storage, [...stored, prompt]);
        stored.push(prompt);
        return false;
      } catch {
        return true;
      }
    });
  }

  #forget(): void {
    try {
      this.storage?.removeItem(this.key);
    } catch {
      // Nothing was written there, either.
    }
  }
}

function isPrompt(found: unknown): found is UnsentPrompt {
  const { message, before, until } = (found ?? {}) as Partial<UnsentPrompt>;
  return typeof message?.id === "string" && Array.isArray(message.parts) && Array.isArray(before) && typeof until === "number";
}
