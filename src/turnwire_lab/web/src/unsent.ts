// A prompt that this tab shows, and that may never have come to the agent.
import type { Chat, UIMessage } from "@ai-sdk/react";

export type Prompt = Parameters<Chat<UIMessage>["sendMessage"]>[0];

/** What a user wrote, as it stands in a history. */
export function writtenOf(prompt: Prompt): UIMessage {
  const text = prompt !== undefined && "text" in prompt ? prompt.text : undefined;
  return { id: "", role: "user", parts: prompt?.parts ?? [{ type: "text", text: text ?? "" }] };
}

/** The history, and behind it the newest prompt of this tab if the agent never got it. */
export function withUnsent(history: UIMessage[], here: UIMessage[]): UIMessage[] {
  const newest = here.findLast((message) => message.role === "user");
  const known = history.findLast((message) => message.role === "user");
  if (newest === undefined || history.some((message) => message.id === newest.id)) return history;
  // Not every agent keeps the id that a client gave its prompt. What stood here before is another.
  const isNew = known !== undefined && here.every((message) => message.id !== known.id);
  return isNew && textOf(known) === textOf(newest) ? history : [...history, newest];
}

function textOf(message: UIMessage): string {
  return message.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}
