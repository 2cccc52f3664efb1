// What a browser tells of its network and of its user.
import type { AbstractChat, UIMessage } from "ai";

import type { Session } from "./session.js";

type Some = Session<AbstractChat<UIMessage>>;

/** Look anew when the network is back. Returns what ends this. */
export function followNetwork(session: Pick<Some, "back">): () => void {
  const back = () => session.back();
  addEventListener("online", back);
  return () => removeEventListener("online", back);
}

/** Look for turns of other clients: every so many milliseconds, and whenever the user comes back to
 * the page. Returns what ends this. */
export function followUser(session: Pick<Some, "look">, pollMs = 10_000): () => void {
  const visible = () => {
    if (document.visibilityState === "visible") session.look();
  };
  const timer = setInterval(visible, pollMs);
  addEventListener("focus", visible);
  document.addEventListener("visibilitychange", visible);
  return () => {
    clearInterval(timer);
    removeEventListener("focus", visible);
    document.removeEventListener("visibilitychange", visible);
  };
}
