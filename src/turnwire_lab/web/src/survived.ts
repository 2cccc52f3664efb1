// Answers whose stream broke, and that went on: what a user would otherwise never know.
import type { Notice, State } from "turnwire-session";

const WORDS: Partial<Record<Notice["code"], string>> = {
  agent_hung_up: "The agent hung up",
  gateway_restarting: "The gateway restarted",
  line_silent: "The connection fell silent",
};

type Seen = Pick<State, "notice" | "recovering" | "messages" | "status" | "progress">;

export class Survived {
  #all: ReadonlyMap<string, string> = new Map();
  /** What broke, until it is known what became of the answer. */
  #broke: string | null = null;
  #listeners = new Set<() => void>();

  /** What stands under each answer, by its id. */
  all = (): ReadonlyMap<string, string> => this.#all;

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** The session has changed to this. */
  see({ notice, recovering, messages, status, progress }: Seen): void {
    if (notice !== null) {
      const isBreak = notice.automatic && notice.turn !== "none" && (recovering || !notice.gaveUp);
      this.#broke = isBreak ? (WORDS[notice.code] ?? "The connection broke") : null;
      return;
    }
    const last = messages.at(-1);
    if (this.#broke === null || recovering || last?.role !== "assistant") return;
    const isThere = status === "submitted" || status === "streaming" || (typeof progress === "object" && progress?.over === last.id);
    if (!isThere) return;
    this.#all = new Map([...this.#all, [last.id, `${this.#broke}; nothing was lost.`]]);
    this.#broke = null;
    for (const listener of this.#listeners) listener();
  }
}
