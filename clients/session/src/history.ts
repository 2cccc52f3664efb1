// Who keeps what was said: the agent, or this client where the agent states no history.
import type { UIMessage } from "ai";

import type { Endpoint } from "./endpoint.js";
import type { Memory } from "./ports.js";

export class History {
  /** Whether the agent states no history: the conversation is the client's then, and goes along with each prompt. */
  isOurs = false;
  #newest: readonly UIMessage[] = [];

  constructor(
    private readonly endpoint: Pick<Endpoint, "history">,
    private readonly memory: Memory | undefined,
  ) {}

  /** What was said; null where nobody keeps it. An agent that states no history is asked once.
   *
   * Throws what the endpoint throws. */
  async read(): Promise<UIMessage[] | null> {
    if (!this.isOurs) {
      const stated = await this.endpoint.history();
      if (stated !== null) return stated;
      this.isOurs = true;
      // A prompt may have gone out before this was known: it stands behind what was kept.
      const kept = this.memory?.read() ?? [];
      const since = this.#newest.filter(({ id }) => kept.every((each) => each.id !== id));
      if (since.length > 0) this.keep([...kept, ...since]);
    }
    return this.memory?.read() ?? null;
  }

  /** These messages stand there now: a turn was begun, or its stream is over. */
  keep(messages: readonly UIMessage[]): void {
    this.#newest = messages;
    if (this.isOurs) this.memory?.write(messages);
  }
}
