// What the page asks of a session beside its turns: the history, a stop, an answer.
import type { UIMessage } from "ai";

import { authorization, type Setup } from "./lab";

/** Asked again, it may be there. */
export class Retryable extends Error {}

export interface Told {
  ok: boolean;
  text: string;
}

export class Endpoint {
  constructor(
    readonly setup: Setup,
    readonly session: string,
  ) {}

  /** What was said, with how each turn ended. */
  async history(): Promise<UIMessage[]> {
    const response = await fetch(`${this.url("messages")}?finish=true`, { headers: authorization(this.setup) });
    if (response.status === 503) throw new Retryable();
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as UIMessage[];
  }

  /** The answer is read to its end, or it would be broken off by a reload. */
  async post(route: "stop" | "answer", body: unknown): Promise<Told> {
    const response = await fetch(this.url(route), {
      method: "POST",
      headers: { ...authorization(this.setup), "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return { ok: response.ok, text: await response.text() };
  }

  url(route: string): string {
    return `/api/sessions/${encodeURIComponent(this.session)}/${route}`;
  }
}
