// How turns ended that did not end well, by the message that shows it. A tab remembers what it saw:
// to the agent's history, a turn that the gateway gave up is one that was stopped, like any other.
import type { UIMessage } from "ai";
import { type Endings, type Notice, noticeOfEnd } from "turnwire-session";

import { reasonOf, STOPPED } from "./notice";

type Kept = [session: string, id: string, ended: string];

const KEY = "turnwire.ended";
const MOST = 100;

export class Marks implements Endings {
  #all: ReadonlyMap<string, string>;
  #listeners = new Set<() => void>();

  constructor(readonly session: string) {
    this.#all = new Map(kept().flatMap(([of, id, ended]) => (of === session ? [[id, ended]] : [])));
  }

  all = (): ReadonlyMap<string, string> => this.#all;

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  ended(id: string | undefined, how: Notice | "stopped" | null): void {
    this.#set(id, how === null ? null : how === "stopped" ? STOPPED : reasonOf(how));
  }

  /** What the history says of turns that did not end well; what this tab saw of them counts more. */
  read(history: readonly UIMessage[]): void {
    for (const message of history) {
      const end = noticeOfEnd(message);
      if (end !== null && !this.#all.has(message.id)) this.ended(message.id, end);
    }
  }

  /** A prompt that came to nothing, and has its answer by now, is marked no more. */
  complete(messages: readonly UIMessage[]): void {
    for (const [place, message] of messages.entries()) {
      if (message.role === "user" && messages[place + 1]?.role === "assistant") this.#set(message.id, null);
    }
  }

  #set(id: string | undefined, ended: string | null): void {
    if (id === undefined || (this.#all.get(id) ?? null) === ended) return;
    const all = new Map(this.#all);
    const others = kept().filter(([session, other]) => session !== this.session || other !== id);
    if (ended === null) all.delete(id);
    else {
      all.set(id, ended);
      others.push([this.session, id, ended]);
    }
    this.#all = all;
    sessionStorage.setItem(KEY, JSON.stringify(others.slice(-MOST)));
    for (const listener of this.#listeners) listener();
  }
}

export function forgetMarks(session: string): void {
  const others = kept().filter(([of]) => of !== session);
  sessionStorage.setItem(KEY, JSON.stringify(others));
}

function kept(): Kept[] {
  try {
    const read: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? "[]");
    if (Array.isArray(read)) return read.filter(isKept);
  } catch {
    // Cut short: begin anew.
  }
  return [];
}

function isKept(value: unknown): value is Kept {
  return Array.isArray(value) && value.length === 3 && value.every((each) => typeof each === "string");
}
