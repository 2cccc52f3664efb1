// The token is in memory, and in the header of requests to the gateway; nowhere else.

export class NoToken extends Error {
  constructor() {
    super("No token");
    this.name = "NoToken";
  }
}

/** A `fetch` with a token. A token that the gateway refuses is replaced once, for all requests that
 * wait for it; what then is refused again is the response. */
export function withToken(ask: () => Promise<string> | string): typeof fetch {
  let current: Promise<string> | null = null;

  const asked = async (): Promise<string> => {
    const token: unknown = await new Promise((resolve) => resolve(ask())).catch(() => null);
    if (typeof token === "string" && /^[\x21-\x7e]+$/.test(token)) return token;
    current = null;
    throw new NoToken();
  };
  const get = () => (current ??= asked());

  return async (input, init = {}) => {
    const used = get();
    const response = await send(input, init, await used);
    if (response.status !== 401) return response;
    if (current === used) current = null;
    return send(input, init, await get());
  };
}

function send(input: RequestInfo | URL, init: RequestInit, token: string): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${token}`);
  return fetch(input, { ...init, headers, credentials: "omit" });
}
