// The token is in memory, and in the header of requests to the gateway; nowhere else.
import { TurnwireError } from "./errors.js";

/** A token, or a function that gives one. It is called before the first request, and with `refresh: true`
 * once for each request that the gateway answers with 401. */
export type Token = string | ((ask: { refresh: boolean }) => string | Promise<string>);

/** Sends requests with the token. Requests that wait for a fresh one share it. */
export class Tokens {
  #current: Promise<string> | null = null;

  constructor(
    private readonly token: Token | undefined,
    private readonly send: typeof fetch,
  ) {}

  async fetch(url: string, init: RequestInit): Promise<Response> {
    if (this.token === undefined) return this.send(url, init);
    const used = (this.#current ??= this.#ask(false));
    const response = await this.send(url, withToken(init, await this.#within(used, init.signal)));
    if (response.status !== 401 || typeof this.token === "string") return response;
    // Another request may have asked already.
    if (this.#current === used) this.#current = this.#ask(true);
    const fresh = (this.#current ??= this.#ask(true));
    await response.body?.cancel().catch(() => {});
    return this.send(url, withToken(init, await this.#within(fresh, init.signal)));
  }

  /** The next request asks again: another user may be there. */
  forget(): void {
    this.#current = null;
  }

  /** Wait for no longer than the request itself may take. */
  #within(asked: Promise<string>, signal: AbortSignal | null | undefined): Promise<string> {
    return new Promise((resolve, reject) => {
      const left = () => {
        // A function that never answers is asked again by the next request.
        if (signal?.reason?.name === "TimeoutError" && this.#current === asked) this.#current = null;
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", left);
      void asked.then(resolve, reject).then(() => signal?.removeEventListener("abort", left));
      if (signal?.aborted === true) left();
    });
  }

  #ask(refresh: boolean): Promise<string> {
    const { token } = this;
    const asked: Promise<string> = new Promise<unknown>((resolve) => {
      resolve(typeof token === "function" ? token({ refresh }) : token);
    }).then(checked, (error: unknown) => {
      throw new TurnwireError("no_token", "No token could be had", { cause: error });
    });
    // The next request asks again.
    asked.catch(() => {
      if (this.#current === asked) this.#current = null;
    });
    return asked;
  }
}

function checked(token: unknown): string {
  if (typeof token === "string" && /^[\x21-\x7e]+$/.test(token)) return token;
  throw new TurnwireError("no_token", "The token is no text, or has characters that no header may have");
}

function withToken(init: RequestInit, token: string): RequestInit {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${token}`);
  return { ...init, headers };
}
