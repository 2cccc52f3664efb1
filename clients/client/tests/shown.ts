// What stands in a chat.
import type { AbstractChat, UIMessage } from "ai";

export type Chat = AbstractChat<UIMessage>;

export function partsOf(chat: Chat): UIMessage["parts"] {
  return chat.messages.at(-1)?.parts ?? [];
}

export function textOf(chat: Chat): string {
  return chat.lastMessage?.role === "assistant" ? partsOf(chat).map((part) => (part.type === "text" ? part.text : "")).join("") : "";
}

/** What lasts of a message, without what each turn has of its own. */
export function lasting(parts: UIMessage["parts"]): unknown {
  const text = JSON.stringify(parts, (name, value: unknown) => (["state", "expiresAt"].includes(name) ? undefined : value));
  return JSON.parse(text.replaceAll(/(call|turn|question)-[0-9a-f]{12}/g, "$1"));
}
