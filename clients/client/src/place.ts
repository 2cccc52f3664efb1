// The requests of one session.
import type { UIMessage } from "ai";

import { refusalOf, TurnwireError } from "./errors.js";
import type { Limits, TransportOptions } from "./options.js";
import { either } from "./signals.js";
import type { Tokens } from "./tokens.js";

/** What a stop did. `reason`: `canceled`, `end_turn`, `error`, `idle` or `no_verdict`. */
export interface Receipt {
  stopped: boolean;
  turnId: string | null;
  reason: string;
  waitedMs: number;
}

export interface Page {
  /** At most so many messages; the gateway's own bound is 500. */
  limit?: number;
  /** The messages before the one with this id. */
  before?: string;
  /** Whether the metadata of an answer that did not end well says so. */
  finish?: boolean;
}

export class Place {
  readonly #base: string;
  /** No other session has it, at another gateway or of another user. */
  readonly name: string;

  constructor(
    readonly sessionId: string,
    private readonly options: TransportOptions,
    private readonly tokens: Tokens,
    private readonly limits: Limits,
  ) {
    const url = gatewayOf(options);
    this.name = [url, options.user ?? "", sessionId].map(encodeURIComponent).join(":");
    this.#base = `${url}/api/sessions/${encodeURIComponent(sessionId)}`;
  }

  /** Send a prompt. The body of the response is the stream of its turn, if it was taken. */
  async prompt(body: unknown, headers: HeadersInit | undefined, signal: AbortSignal): Promise<Response> {
    const { onDisconnect } = this.options;
    return this.#send("chat", onDisconnect === undefined ? {} : { onDisconnect }, posted(body, signal), headers);
  }

  /** Ask for the turn that runs or waits: 204 if none does. */
  async stream(chatId: string, headers: HeadersInit | undefined, signal: AbortSignal): Promise<Response> {
    // No URL has a segment of dots.
    const chat = /^\.*$/.test(chatId) ? "chat" : encodeURIComponent(chatId);
    return this.#send(`chat/${chat}/stream`, {}, { signal }, headers);
  }

  /** The messages, the oldest first; null from an agent that keeps none. */
  async history({ limit, before, finish }: Page = {}, signal?: AbortSignal): Promise<UIMessage[] | null> {
    const query: Record<string, string> = {};
    if (limit !== undefined) query["limit"] = String(limit);
    if (before !== undefined) query["before"] = before;
    if (finish === true) query["finish"] = "true";
    const response = await this.#send("messages", query, { signal: this.#patience(signal) });
    if (response.status === 501) {
      await response.body?.cancel();
      return null;
    }
    if (!response.ok) throw await refusalOf(response);
    const found: unknown = await response.json();
    if (Array.isArray(found)) return found as UIMessage[];
    throw new TurnwireError("malformed", "The answer is no history");
  }

  /** Stop the turn; the receipt comes when it is over. With an id no other turn is stopped. */
  async stop(turnId?: string): Promise<Receipt> {
    // It is sent even if the page is closed at once.
    const init = { ...posted(turnId === undefined ? {} : { turnId }, this.#patience()), keepalive: true };
    const response = await this.#send("stop", {}, init);
    if (!response.ok) throw await refusalOf(response);
    return (await response.json()) as Receipt;
  }

  async answer(questionId: string, answer: unknown, approvalId?: string): Promise<void> {
    const response = await this.#send("answer", {}, posted({ questionId, answer, approvalId }, this.#patience()));
    if (!response.ok) throw await refusalOf(response);
    await response.text();
  }

  #patience(signal?: AbortSignal): AbortSignal {
    const late = AbortSignal.timeout(this.limits.replyMs);
    return signal === undefined ? late : either(late, signal);
  }

  #send(route: string, query: Record<string, string>, init: RequestInit, more?: HeadersInit): Promise<Response> {
    const parameters = new URLSearchParams({ ...this.options.query, ...query }).toString();
    const headers = new Headers(this.options.headers);
    for (const each of [init.headers, more]) new Headers(each).forEach((value, name) => headers.set(name, value));
    if (this.options.profile !== undefined) headers.set("x-turnwire-profile", this.options.profile);
    return this.tokens.fetch(`${this.#base}/${route}${parameters && `?${parameters}`}`, { ...init, headers });
  }
}

/** A gateway by its origin and base path; empty for the page's own origin. */
export function gatewayOf({ url = "" }: TransportOptions): string {
  return url.replace(/\/+$/, "");
}

function posted(body: unknown, signal: AbortSignal): RequestInit {
  return { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal };
}
