// Which message of a history is that of a prompt.
//
// `turnwire-session` compares messages in the same way (`clients/session/src/unsent.ts`). The two are packages of their own,
// which are compiled from their own sources, and neither depends on the other: the session needs `ai` 7, and this one
// runs with 5 and 6, too. So these few lines stand in both.
import type { UIMessage } from "ai";

/** A prompt, and the ids of the messages that stood before it, the newest of them. */
export interface Placed {
  message: UIMessage;
  before: readonly string[];
}

/** Which of these prompts the history has. A message of the history is that of one prompt alone: of the newest that
 * it can be. */
export function arrived<P extends Placed>(prompts: readonly P[], history: readonly UIMessage[]): Set<P> {
  const free = new Set(history);
  const there = new Set<P>();
  for (const each of prompts.toReversed()) {
    const its = messageOf(each, history, free);
    if (its === undefined) continue;
    free.delete(its);
    there.add(each);
  }
  return there;
}

/** Not every agent keeps the id that a client gave its prompt: then it is the one with the same content, behind all
 * that stood before it. */
export function messageOf(
  { message, before }: Placed,
  history: readonly UIMessage[],
  free: ReadonlySet<UIMessage> = new Set(history),
): UIMessage | undefined {
  const known = history.find(({ id, role }) => id === message.id && role === "user");
  if (known !== undefined) return known;
  const last = history.findLastIndex(({ id }) => before.includes(id));
  // Nothing says what came after it: an older message with the same content may be another.
  if (last < 0 && before.length > 0) return undefined;
  const since = before.length > 0 ? history.slice(last + 1) : history.slice(0, history.findIndex(({ role }) => role === "user") + 1);
  return since.findLast((each) => each.role === "user" && free.has(each) && isSame(each, message));
}

/** The same text, or without one the same files. An agent may no longer have all of them. */
function isSame(kept: UIMessage, message: UIMessage): boolean {
  const text = textOf(message);
  if (text !== "" || textOf(kept) !== "") return textOf(kept) === text;
  const files = new Set(filesOf(message));
  return filesOf(kept).every((file) => files.has(file));
}

export function textOf({ parts }: UIMessage): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("").trim();
}

/** Of a file in base64 only the bytes: the gateway corrects the type before them. */
function filesOf({ parts }: UIMessage): string[] {
  return parts.flatMap((part) => (part.type === "file" ? [part.url.replace(/^data:[^,]*,/i, "")] : []));
}
