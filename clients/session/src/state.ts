// A session as a page shows it, and who is called when it changes.
import type { ChatStatus, UIMessage } from "ai";

import type { Notice } from "./notice.js";

export interface AgentStatus {
  status: string;
  detail?: string;
}

/** How far the newest turn is: an id is that of the message with which it ended. */
export type Progress = "sent" | "failed" | { over: string } | null;

/** What the session itself knows; the rest of the state is the chat's. */
export interface Flags {
  /** The history was not read yet. */
  loading: boolean;
  /** It is not known yet whether a turn runs. */
  looking: boolean;
  /** Everything is read anew after a break. */
  recovering: boolean;
  stopping: boolean;
  agent: AgentStatus;
  notice: Notice | null;
  progress: Progress;
  /** Prompts that were not taken, in the order in which they were written: they go back to where that was. */
  refused: readonly UIMessage[];
}

export interface State extends Flags {
  messages: readonly UIMessage[];
  status: ChatStatus;
}

export const IDLE: AgentStatus = { status: "idle" };
/** The gateway took the prompt, and nobody said yet what the agent does. */
export const WAITING: AgentStatus = { status: "waiting" };

export class Store {
  flags: Flags = {
    ...{ loading: true, looking: false, recovering: false, stopping: false },
    ...{ agent: IDLE, notice: null, progress: null, refused: [] },
  };
  #listeners = new Set<() => void>();

  set(change: Partial<Flags>): void {
    this.flags = { ...this.flags, ...change };
    this.changed();
  }

  refuse(...prompts: UIMessage[]): void {
    if (prompts.length > 0) this.set({ refused: [...this.flags.refused, ...prompts] });
  }

  /** Only these: another may have been refused since they were read. */
  tookBack(prompts: readonly UIMessage[]): void {
    this.set({ refused: this.flags.refused.filter((each) => !prompts.includes(each)) });
  }

  changed(): void {
    for (const listener of this.#listeners) listener();
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
