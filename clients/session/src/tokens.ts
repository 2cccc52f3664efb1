// The token is in memory, and in the header of requests to the gateway; nowhere else.

export class NoToken extends Error {
  constructor() {
    super("No token");
    this.name = "NoToken";
  }
}

/** A `fetch` with a token, which each gateway has for itself: `ask` is given the gateway's address, empty for the page's
 * own origin. A token that the gateway refuses is replaced once, for all requests that wait for it; what then is refused
 * again is the response. */
export function withToken(ask: (gateway: string) => Promise<string> | string): typeof fetch {
  const current = new Map<string, Promise<string>>();

  const asked = async (gateway: string): Promise<string> => {
    const token: unknown = await new Promise((resolve) => resolve(ask(gateway))).catch(() => null);
    if (typeof token === "string" && /^[\x21-\x7e]+$/.test(token)) return token;
    current.delete(gateway);
    throw new NoToken();
  };
  const get = (gateway: string): Promise<string> => {
    const token = current.get(gateway) ?? asked(gateway);
    current.set(gateway, token);
    return token;
  };

  return async (input, init = {}) => {
    const gateway = gatewayOf(input);
    const used = get(gateway);
    const response = await send(input, init, await used);
    if (response.status !== 401) return response;
    if (current.get(gateway) === used) current.delete(gateway);
    return send(input, init, await get(gateway));
  };
}

/** Origin and base path, in front of the gateway's own routes. */
function gatewayOf(input: RequestInfo | URL): string {
  const [path = ""] = (input instanceof Request ? input.url : String(input)).split(/[?#]/);
  const routes = path.lastIndexOf("/api/sessions/");
  return routes < 0 ? path : path.slice(0, routes);
}

function send(input: RequestInfo | URL, init: RequestInit, token: string): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${token}`);
  return fetch(input, { ...init, headers, credentials: "omit" });
}
