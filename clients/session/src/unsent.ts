// Prompts that this client shows, and that may never have come to the agent.
//
// `turnwire-client` compares messages in the same way (`clients/client/src/arrival.ts`, which says why that stands in both).
import { type AbstractChat, convertFileListToFileUIParts, type UIMessage } from "ai";

export type Prompt = Parameters<AbstractChat<UIMessage>["sendMessage"]>[0];

/** A prompt, until it is known that the agent has it. */
export interface Sent {
  message: UIMessage;
  /** The id of what was the last message before it. */
  after: string | undefined;
  /** The ids of all messages that stood here before it. */
  before: ReadonlySet<string>;
  /** Whether it was sent before and arrived then, so that the history has it already. */
  again: boolean;
}

export class Unsent {
  #newest: Sent | null = null;
  /** Those that another prompt followed before it was known whether they arrived, and all that came
   * after them; the oldest is the first. */
  #older: Sent[] = [];
  /** Which of the older ones came to the agent: what a history has of them is no other's. */
  readonly #arrived = new Set<Sent>();

  get hasOlder(): boolean {
    return this.#older.length > 0;
  }

  /** `messages` ends with a prompt that goes out now. `again` says that it stood there before, and `after`
   * what was the last message then. */
  sending(messages: readonly UIMessage[], again: boolean, after: string | undefined): void {
    const message = messages.at(-1);
    if (message === undefined) return;
    // One that never came to the agent is as new as it was.
    if (again && this.#newest?.message.id === message.id) return;
    if (this.#newest !== null && !this.#newest.again) this.#older.push(this.#newest);
    const before = new Set(messages.slice(0, -1).map(({ id }) => id));
    this.#newest = { message, again, before, after: again ? after : messages.at(-2)?.id };
  }

  /** The newest one came to the agent. */
  settle(): void {
    if (this.#newest !== null && this.hasOlder) {
      this.#older.push(this.#newest);
      this.#arrived.add(this.#newest);
    }
    this.#newest = null;
  }

  /** The newest one is given back, and not sent. */
  drop(): void {
    this.#newest = null;
  }

  /** Whether the history lacks the newest one. */
  isLost(history: readonly UIMessage[] | null): boolean {
    return this.#newest !== null && history !== null && !arrived(this.#newest, history);
  }

  /** The history, and behind it the newest one if that is not in it. */
  shown(history: readonly UIMessage[]): UIMessage[] {
    return this.#newest !== null && this.isLost(history) ? withUnsent(history, this.#newest) : [...history];
  }

  /** The older ones that the history lacks, in the order in which they were written; they are known no more. */
  takeLost(history: readonly UIMessage[]): UIMessage[] {
    const there = found(this.#newest === null ? this.#older : [...this.#older, this.#newest], history);
    const lost = this.#older.filter((each) => !this.#arrived.has(each) && !there.has(each));
    this.#older = [];
    this.#arrived.clear();
    return lost.map(({ message }) => message);
  }
}

/** Whether the history shows that the agent has the newest prompt. */
export function arrived({ message, after, before, again }: Sent, history: readonly UIMessage[]): boolean {
  const last = history.at(-1);
  if (!again && history.some(({ id }) => id === message.id)) return true;
  // Not every agent keeps the id that a client gave its prompt. What stood here before is another.
  const newest = history.findLast(({ role }) => role === "user");
  if (newest === undefined || last === undefined || !isSame(newest, message) || last.id === after) return false;
  return again || !before.has(newest.id);
}

/** The history, and behind it a prompt that the agent never got. */
export function withUnsent(history: readonly UIMessage[], { message, again }: Sent): UIMessage[] {
  const newest = history.findLast(({ role }) => role === "user");
  const isShown = again && newest !== undefined && isSame(newest, message);
  return isShown ? [...history] : [...history, message];
}

/** Whether the history has something newer than these messages. An answer that is open, since it broke off
 * here or waits for an approval, is not in the history before it is over. */
export function isNews(history: readonly UIMessage[] | null, messages: readonly UIMessage[], isOpen: boolean): boolean {
  const newest = history?.at(-1);
  if (newest === undefined) return false;
  if (isOpen && newest.role === "assistant" && newest.id === messages.at(-1)?.id) return true;
  return messages.every(({ id }) => id !== newest.id);
}

/** The prompt with the files that are in the list of an input now: the list is empty once the page clears the input.
 * A promise only where there is such a list. */
export function withFiles(prompt: Prompt): Prompt | Promise<Prompt> {
  if (prompt?.files === undefined || Array.isArray(prompt.files)) return prompt;
  return convertFileListToFileUIParts(prompt.files).then((files) => ({ ...prompt, files }));
}

/** What a user wrote, as it stands in a history. */
export function writtenOf(prompt: NonNullable<Prompt>): UIMessage {
  if (!("text" in prompt) && !("files" in prompt)) return { id: "", role: "user", ...prompt } as UIMessage;
  const files = Array.isArray(prompt.files) ? prompt.files : [];
  const text = "text" in prompt ? [{ type: "text" as const, text: prompt.text }] : [];
  return { id: "", role: "user", parts: [...files, ...text], metadata: prompt.metadata };
}

export function textOf(message: UIMessage | undefined): string {
  const texts = message?.parts.map((part) => (part.type === "text" ? part.text : ""));
  return texts?.join("").trim() ?? "";
}

/** Which of these prompts the history has; the oldest is the first. A message of the history is that of one prompt alone:
 * of the newest that it can be. */
function found(sent: readonly Sent[], history: readonly UIMessage[]): Set<Sent> {
  const free = new Set(history);
  const there = new Set<Sent>();
  for (const each of sent.toReversed()) {
    const its = messageOf(each, history, free);
    if (its === undefined) continue;
    free.delete(its);
    there.add(each);
  }
  return there;
}

/** The message of a prompt in a history, one of those that are `free`. */
function messageOf({ message, before }: Sent, history: readonly UIMessage[], free: ReadonlySet<UIMessage>): UIMessage | undefined {
  const known = history.find(({ id }) => id === message.id);
  if (known !== undefined) return known;
  // It stands behind all that stood here before it.
  const since = history.findLastIndex(({ id }) => before.has(id)) + 1;
  return history.slice(since).findLast((each) => each.role === "user" && free.has(each) && isSame(each, message));
}

/** Whether a message of a history says what this prompt says: the same text, or without one the same files. An agent may
 * no longer have all of them. */
function isSame(kept: UIMessage, message: UIMessage): boolean {
  const text = textOf(message);
  if (text !== "" || textOf(kept) !== "") return textOf(kept) === text;
  const files = new Set(filesOf(message));
  return filesOf(kept).every((file) => files.has(file));
}

/** The files of a message. Of one in base64 only the bytes: the gateway corrects the type before them. */
function filesOf({ parts }: UIMessage): string[] {
  return parts.flatMap((part) => (part.type === "file" ? [part.url.replace(/^data:[^,]*,/i, "")] : []));
}
