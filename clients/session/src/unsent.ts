// A prompt that this client shows, and that may never have come to the agent.
import type { UIMessage } from "ai";

/** The newest prompt, until it is known that the agent has it. */
export interface Sent {
  message: UIMessage;
  /** The id of what was the last message before it. */
  after: string | undefined;
  /** The ids of all messages that stood here before it. */
  before: ReadonlySet<string>;
  /** Whether it was sent before and arrived then, so that the history has it already. */
  again: boolean;
}

/** Whether the history shows that the agent has the prompt. */
export function arrived({ message, after, before, again }: Sent, history: readonly UIMessage[]): boolean {
  const last = history.at(-1);
  if (!again && history.some(({ id }) => id === message.id)) return true;
  // Not every agent keeps the id that a client gave its prompt. What stood here before is another.
  const newest = history.findLast(({ role }) => role === "user");
  if (newest === undefined || last === undefined || textOf(newest) !== textOf(message) || last.id === after) return false;
  return again || !before.has(newest.id);
}

/** The history, and behind it a prompt that the agent never got. */
export function withUnsent(history: readonly UIMessage[], { message, again }: Sent): UIMessage[] {
  const newest = history.findLast(({ role }) => role === "user");
  const isShown = again && newest !== undefined && textOf(newest) === textOf(message);
  return isShown ? [...history] : [...history, message];
}

export function textOf(message: UIMessage | undefined): string {
  const texts = message?.parts.map((part) => (part.type === "text" ? part.text : ""));
  return texts?.join("").trim() ?? "";
}
