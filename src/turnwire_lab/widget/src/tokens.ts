// The token is in memory, and in the header of requests to the gateway; nowhere else.

export class NoToken extends Error {
  constructor() {
    super("No token");
    this.name = "NoToken";
  }
}

export class Tokens {
  #current: Promise<string> | null = null;

  constructor(private readonly ask: () => Promise<string> | string) {}

  /** As `fetch`, with the token. One that is refused is replaced once, for all who wait for it. */
  fetch = async (input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> => {
    const used = this.#get();
    const response = await send(input, init, await used);
    if (response.status !== 401) return response;
    if (this.#current === used) this.#current = null;
    return send(input, init, await this.#get());
  };

  #get(): Promise<string> {
    return (this.#current ??= this.#asked());
  }

  async #asked(): Promise<string> {
    const token: unknown = await new Promise((resolve) => resolve(this.ask())).catch(() => null);
    if (typeof token === "string" && /^[\x21-\x7e]+$/.test(token)) return token;
    this.#current = null;
    throw new NoToken();
  }
}

function send(input: RequestInfo | URL, init: RequestInit, token: string): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${token}`);
  return fetch(input, { ...init, headers, credentials: "omit" });
}
