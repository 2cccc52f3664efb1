// What a session asks of its surroundings, beyond a gateway.
import type { UIMessage } from "ai";

import type { Notice } from "./notice.js";

export interface Options {
  /** The gateway's, without a slash at its end; the page's own origin if not stated. */
  url?: string;
  session: string;
  /** Adds the token to each request: see `withToken`. */
  fetch?: typeof fetch;
  /** Approvals as the SDK has them, which end the stream and are answered with a new one. Without
   * this an approval is a question. */
  nativeApprovals?: boolean;
  /** A stream that brings nothing for so many milliseconds is dead. Longer than the gateway's
   * TURNWIRE_KEEPALIVE_S: 45 s, three times its default, if not stated. */
  silenceMs?: number;
  slots?: Slots;
  endings?: Endings;
  /** Where the conversation is kept if the agent states no history. Without it a reload loses what was said. */
  memory?: Memory;
  /** Called when a turn of this client began, and when it is over; not for one that it only follows. */
  onTurn?: (now: "began" | "over") => void;
}

/** How many streams a browser may have open: over HTTP/1.1 it has six connections to a host. */
export interface Slots {
  /** A function that gives the slot back; null if all are taken. `follows` is true for a stream of
   * a turn that runs already. */
  take(follows: boolean): Promise<(() => void) | null>;
}

/** Where a client keeps one conversation. */
export interface Memory {
  /** What was written last, by any client that shares this; none if nothing was. */
  read(): UIMessage[];
  write(messages: readonly UIMessage[]): void;
}

/** Where it is kept how turns ended that did not end well. */
export interface Endings {
  /** `how` is null for a turn that ended well, or begins anew. */
  ended(messageId: string | undefined, how: Notice | "stopped" | null): void;
  /** A history was read. */
  read(history: readonly UIMessage[]): void;
  /** These stand there now, and nothing is missing. */
  complete(messages: readonly UIMessage[]): void;
}
