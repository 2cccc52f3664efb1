// What was said, where the agent tells no history: in this tab, until it is closed.
import type { UIMessage } from "ai";
import type { Memory } from "turnwire-session";

const KEY = "turnwire-widget-messages";
/** An agent is sent no more by default (TURNWIRE_HISTORY_MESSAGES). */
const MOST_MESSAGES = 500;
/** Of all chats; two bytes each. A tab has room for five million, which are the host page's too. */
const MOST_CHARACTERS = 1_000_000;
/** Where the tab has no room even for so many, nothing is kept. */
const FEWEST_CHARACTERS = 1_000;
const MOST_CHATS = 20;

/** Whose conversation it is; the user is "" if the token does not tell. */
export interface Owner {
  gateway: string;
  session: string;
  user: string;
}

interface Chat extends Owner {
  messages: UIMessage[];
}

export function memoryOf(owner: () => Owner): Memory {
  // All of it, for as long as the page lives: the tab may have room for less, or for nothing.
  let whole: UIMessage[] | null = null;
  return {
    read() {
      if (whole !== null) return whole;
      const own = owner();
      const stored = readChats();
      const allowed = stored.filter((each) => !isOfAnotherUser(each, own));
      if (allowed.length < stored.length) keep(allowed);
      return allowed.find((each) => isOf(each, own))?.messages ?? [];
    },
    write(messages) {
      const own = owner();
      whole = structuredClone([...messages]);
      const others = readChats().filter((each) => !isOf(each, own) && !isOfAnotherUser(each, own));
      keep([...others, { ...own, messages: whole }]);
    },
  };
}

/** The `sub` of a token, not verified: it only separates the chats of one tab. "" where there is none. */
export function userOf(token: unknown): string {
  try {
    const [, claims = ""] = String(token).split(".");
    // Its bytes are taken for characters: the same bytes are the same user.
    const { sub } = JSON.parse(atob(claims.replaceAll("-", "+").replaceAll("_", "/"))) as { sub?: unknown };
    return typeof sub === "string" ? sub : "";
  } catch {
    return "";
  }
}

function isOf(chat: Chat, { gateway, session, user }: Owner): boolean {
  return chat.user === user && chat.session === session && chat.gateway === gateway;
}

function isOfAnotherUser(chat: Chat, { gateway, user }: Owner): boolean {
  return chat.gateway === gateway && chat.user !== user;
}

/** The chats of this tab; the newest is the last. */
function readChats(): Chat[] {
  try {
    const read: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? "[]");
    if (Array.isArray(read)) return read.filter(isChat);
  } catch {
    // Forbidden, or not ours: begin anew.
  }
  return [];
}

/** As much of the newest as there is room for. */
function keep(chats: readonly Chat[]): void {
  for (let most = MOST_CHARACTERS; most >= FEWEST_CHARACTERS; most /= 2) {
    if (stored(JSON.stringify(newestOf(chats, most)))) return;
  }
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // Storage may be forbidden.
  }
}

function stored(text: string): boolean {
  try {
    sessionStorage.setItem(KEY, text);
    return true;
  } catch {
    return false;
  }
}

function newestOf(chats: readonly Chat[], most: number): Chat[] {
  const newest: Chat[] = [];
  let left = most;
  for (const chat of chats.slice(-MOST_CHATS).reverse()) {
    const messages = lastTurns(chat.messages, left);
    if (messages.length === 0) break;
    newest.unshift({ ...chat, messages });
    left -= JSON.stringify(messages).length;
  }
  return newest;
}

/** The last turns, whole, in so many characters at most. */
function lastTurns(messages: readonly UIMessage[], most: number): UIMessage[] {
  let [from, left] = [messages.length, most];
  const end = Math.max(0, messages.length - MOST_MESSAGES);
  for (let at = messages.length - 1; at >= end; at -= 1) {
    const message = messages[at];
    left -= JSON.stringify(message).length + 1;
    if (left < 0) break;
    // A turn that was begun elsewhere has no prompt here.
    if (message?.role === "user" || at === 0) from = at;
  }
  return messages.slice(from);
}

function isChat(value: unknown): value is Chat {
  const chat = value as Partial<Chat> | null;
  const isNamed = [chat?.gateway, chat?.session, chat?.user].every((each) => typeof each === "string");
  return isNamed && Array.isArray(chat?.messages) && chat.messages.every(isMessage);
}

function isMessage(value: unknown): value is UIMessage {
  const message = value as Partial<UIMessage> | null;
  if (typeof message?.id !== "string" || typeof message.role !== "string" || !Array.isArray(message.parts)) return false;
  return message.parts.every((part) => typeof (part as { type?: unknown } | null)?.type === "string");
}
