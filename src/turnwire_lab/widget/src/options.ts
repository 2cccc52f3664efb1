export type Theme = "auto" | "light" | "dark";
export type Position = "right" | "left";

export interface Options {
  /** Of the gateway, without a path behind it but its own prefix: `https://gateway.example`. */
  url: string;
  session: string;
  /** Where the host page's own server answers `{"token": "…"}`. Either this or `token`. */
  tokenUrl?: string;
  /** Asked for a token whenever one is needed and the last was refused. */
  token?: () => Promise<string> | string;
  title?: string;
  welcome?: string;
  placeholder?: string;
  /** Prompts that an empty chat offers as buttons; the first six of them. */
  suggestions?: readonly string[];
  theme?: Theme;
  position?: Position;
  /** Whether the panel is open at once. */
  open?: boolean;
  /** Where the widget is put: the end of `document.body` if not said. */
  parent?: HTMLElement;
}

export type Settings = Required<Omit<Options, "tokenUrl" | "parent">>;

const SUGGESTIONS = 6;

export class BadOption extends Error {}

/** Defaults filled in. Throws `BadOption`, whose text says what is missing. */
export function settingsOf(options: Options): Settings {
  if (!options.session) throw new BadOption("a session is needed (data-session)");
  const { token, tokenUrl } = options;
  if (token === undefined && !tokenUrl) throw new BadOption("a token is needed (data-token-url)");
  return {
    url: gateway(options.url),
    session: options.session,
    token: token ?? (() => fetched(tokenUrl ?? "")),
    title: options.title || "Chat",
    welcome: options.welcome || "Ask a question to begin.",
    placeholder: options.placeholder || "Message",
    suggestions: (options.suggestions ?? []).map((each) => each.trim()).filter(Boolean).slice(0, SUGGESTIONS),
    theme: oneOf(["auto", "light", "dark"], options.theme),
    position: oneOf(["right", "left"], options.position),
    open: options.open ?? false,
  };
}

/** What a script element says of itself. */
export function optionsOf(data: DOMStringMap): Options {
  const { url = "", session = "", tokenUrl = "", title = "", welcome = "", placeholder = "" } = data;
  return {
    ...{ url, session, tokenUrl, title, welcome, placeholder },
    suggestions: (data["suggestions"] ?? "").split("|"),
    ...(data["theme"] && { theme: data["theme"] as Theme }),
    ...(data["position"] && { position: data["position"] as Position }),
    open: data["open"] !== undefined && data["open"] !== "false",
  };
}

function gateway(text: string): string {
  const url = URL.canParse(text ?? "") ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username || url.password) {
    throw new BadOption("the gateway's URL is needed (data-url)");
  }
  return url.href.replace(/\/+$/, "");
}

function oneOf<T extends string>(known: readonly [T, ...T[]], given: T | undefined): T {
  return given !== undefined && known.includes(given) ? given : known[0];
}

async function fetched(url: string): Promise<string> {
  const headers = { accept: "application/json" };
  // Cookies go to the host page's own origin alone.
  const signal = AbortSignal.timeout(30_000);
  const response = await fetch(url, { headers, credentials: "same-origin", cache: "no-store", signal });
  if (!response.ok) throw new Error(`status ${response.status}`);
  return ((await response.json()) as { token: string }).token;
}
