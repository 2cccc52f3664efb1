// What the page asks of a session beside its turns: the history, a stop, an answer.
import type { UIMessage } from "ai";

import { authorization, type Setup } from "./lab";

// A line that is dead and does not say so would be waited for for minutes.
const LATE_MS = 30_000;

/** Asked again, it may be there. */
export class Retryable extends Error {}

export class Endpoint {
  constructor(
    readonly setup: Setup,
    readonly session: string,
  ) {}

  /** What was said, with how each turn ended. */
  async history(): Promise<UIMessage[]> {
    const signal = AbortSignal.timeout(LATE_MS);
    try {
      const response = await fetch(`${this.url("messages")}?finish=true`, {
        headers: authorization(this.setup),
        signal,
      });
      if (response.status === 503) throw new Retryable();
      if (!response.ok) throw new Error(await response.text());
      return (await response.json()) as UIMessage[];
    } catch (error) {
      throw signal.aborted ? new Retryable() : error;
    }
  }

  /** Whether a turn was stopped; null if nobody said that the agent was told. */
  async stop(): Promise<boolean | null> {
    return this.post("stop", {})
      .then(({ ok, text }) => (ok ? (JSON.parse(text) as { stopped: boolean }).stopped : null))
      .catch(() => null);
  }

  /** Why an answer was not taken; null if it was. */
  async answer(questionId: string, answer: unknown, approvalId?: string): Promise<Error | null> {
    try {
      const told = await this.post("answer", { questionId, answer, approvalId });
      return told.ok ? null : new Error(told.text);
    } catch (error) {
      return error as Error;
    }
  }

  /** The answer is read to its end, or it would be broken off by a reload. */
  private async post(route: "stop" | "answer", body: unknown): Promise<{ ok: boolean; text: string }> {
    const response = await fetch(this.url(route), {
      method: "POST",
      headers: { ...authorization(this.setup), "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(LATE_MS),
    });
    return { ok: response.ok, text: await response.text() };
  }

  url(route: string): string {
    return `/api/sessions/${encodeURIComponent(this.session)}/${route}`;
  }
}
