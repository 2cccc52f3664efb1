// What a transport is made of.
import type { UIMessage } from "ai";

import type { Network } from "./network.js";
import type { Token } from "./tokens.js";

/** What a storage of the browser can do; its keys begin with `turnwire:`. */
export type StoragePort = Pick<Storage, "getItem" | "setItem" | "removeItem">;

export interface TransportOptions {
  /** The gateway's address, as `https://chat.example.com`; the page's own origin if not stated. */
  url?: string;
  /** The session, or a function that gives it for the id of a chat; the id of the chat itself if not stated. */
  sessionId?: string | ((chatId: string) => string);
  token?: Token;
  /** Who is signed in: no one else sees or sends the prompts that this browser keeps. Without it, it keeps none. */
  user?: string;
  /** Instead of the global one. */
  fetch?: typeof fetch;
  /** What the gateway does with the turn when this client is gone, where it allows the choice. */
  onDisconnect?: "abort" | "grace" | "continue";
  /** Native approvals, for `ai` 6 and 7. Without it an approval is a `data-question`. */
  profile?: "6" | "7" | "7.1";
  /** Goes along with every request: `{ threadId: "t1" }`, for example. */
  query?: Record<string, string>;
  /** Go along with every request. */
  headers?: Record<string, string>;
  /** `"last"` sends the newest message alone. `"all"` is for agents that keep no conversation. */
  messages?: "last" | "all";
  /** False: `stop()` of the chat hangs up, and leaves the rest to `onDisconnect`. */
  stopsTurns?: boolean;
  /** Where unsent prompts are kept; null keeps them in memory. If not stated, `localStorage` with a `user`, and memory
   * without one. */
  storage?: StoragePort | null;
  limits?: Partial<Limits>;
  /** What says whether there is a network; the browser if not stated. */
  network?: Network;
}

/** All times are in milliseconds. */
export interface Limits {
  /** The wait before each try to come back. After the last one in vain the client gives up. */
  waitsMs: readonly number[];
  /** A browser that says that it is offline is waited for so long. */
  offlineMs: number;
  /** A stream that brings nothing for so long is broken. Longer than the gateway's `TURNWIRE_KEEPALIVE_S`. */
  silenceMs: number;
  /** A connection that still brought a sign of life after so long was sound, though it brought nothing new. */
  livesMs: number;
  /** A response that is no stream is waited for so long. */
  replyMs: number;
  /** A stop waits so long for the id of the turn, if the stream has not brought it yet. */
  stopMs: number;
}

export const LIMITS: Limits = {
  waitsMs: [0, 400, 800, 1600, 3200, 5000],
  offlineMs: 600_000,
  silenceMs: 45_000,
  livesMs: 10_000,
  replyMs: 30_000,
  stopMs: 3_000,
};

/** How a turn ended that did not end by itself, as the gateway's history states it. */
export interface Finish {
  reason: string;
  errorText?: string;
}

export function finishOf(message: UIMessage): Finish | undefined {
  return (message.metadata as { finish?: Finish } | null | undefined)?.finish;
}
