// What was said, where the agent tells no history: in the browser, for all its tabs.
import type { UIMessage } from "@ai-sdk/react";
import type { Memory } from "turnwire-session";

const PREFIX = "turnwire.messages.";

export function memoryOf(session: string): Memory {
  const key = PREFIX + session;
  // What the browser had no room for; this tab has it, until it is reloaded.
  let unsaved: UIMessage[] | null = null;
  return {
    read: () => unsaved ?? kept(key),
    write(messages) {
      unsaved = keep(key, JSON.stringify(messages)) ? null : structuredClone([...messages]);
    },
  };
}

export function forgetMessages(session: string): void {
  localStorage.removeItem(PREFIX + session);
}

function kept(key: string): UIMessage[] {
  try {
    const read: unknown = JSON.parse(localStorage.getItem(key) ?? "[]");
    if (Array.isArray(read)) return read.filter(isMessage);
  } catch {
    // Cut short: begin anew.
  }
  return [];
}

/** A browser keeps a few megabytes: if they are full, other sessions make room. False if that is not enough. */
function keep(key: string, text: string): boolean {
  const others = Object.keys(localStorage).filter((each) => each.startsWith(PREFIX) && each !== key);
  for (;;) {
    try {
      localStorage.setItem(key, text);
      return true;
    } catch {
      const other = others.pop();
      if (other === undefined) return false;
      localStorage.removeItem(other);
    }
  }
}

function isMessage(value: unknown): value is UIMessage {
  const message = value as UIMessage | null;
  return typeof message?.id === "string" && typeof message.role === "string" && Array.isArray(message.parts);
}
