// What a client asks of a session beside its turns: the history, a stop, an answer.
import type { UIMessage } from "ai";

import { Unavailable } from "./errors.js";

/** A line that is dead and does not say so would be waited for for minutes. */
export const LATE_MS = 30_000;

export class Endpoint {
  constructor(
    private readonly base: string,
    private readonly send: typeof fetch,
  ) {}

  /** What was said, with how each turn ended; null from an agent that tells no history.
   *
   * Throws `Unavailable` where another try may help, and an `Error` with the gateway's words where not. */
  async history(): Promise<UIMessage[] | null> {
    const signal = AbortSignal.timeout(LATE_MS);
    try {
      const response = await this.send(`${this.url("messages")}?finish=true`, { signal });
      if (response.ok) return (await response.json()) as UIMessage[];
      const text = await response.text();
      if (response.status === 501) return null;
      throw response.status === 503 ? new Unavailable(text) : new Error(text);
    } catch (error) {
      throw signal.aborted ? new TypeError("No answer") : error;
    }
  }

  /** Whether a turn was stopped; null if nobody says that the agent was asked to. */
  async stop(turnId: string | undefined): Promise<boolean | null> {
    return this.#post("stop", turnId === undefined ? {} : { turnId })
      .then(({ ok, text }) => (ok ? (JSON.parse(text) as { stopped: boolean }).stopped : null))
      .catch(() => null);
  }

  /** Why an answer was not taken; null if it was. */
  async answer(questionId: string, answer: unknown, approvalId?: string): Promise<Error | null> {
    try {
      const { ok, text } = await this.#post("answer", { questionId, answer, approvalId });
      return ok ? null : new Error(text);
    } catch (error) {
      return error as Error;
    }
  }

  url(route: string): string {
    return `${this.base}/${route}`;
  }

  /** The response is read to its end, or a reload would break it off. */
  async #post(route: "stop" | "answer", body: unknown): Promise<{ ok: boolean; text: string }> {
    const response = await this.send(this.url(route), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(LATE_MS),
    });
    return { ok: response.ok, text: await response.text() };
  }
}
