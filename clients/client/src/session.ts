// What a client asks of a session beside its turns, and the prompts that did not get there.
import type { UIMessage, UIMessageChunk } from "ai";

import { isOpenQuestion } from "./kinds.js";
import type { StoragePort } from "./options.js";
import type { Page, Place, Receipt } from "./place.js";
import { Unsent } from "./unsent.js";

/** Answers that are remembered; the oldest are forgotten. */
const MOST = 256;

export class TurnwireSession {
  readonly unsent: Unsent;
  readonly #answers = new Map<string, Promise<void>>();
  readonly #taken = new Set<string>();

  constructor(
    readonly place: Place,
    storage: StoragePort | null,
    changed: () => void,
  ) {
    this.unsent = new Unsent(storage, `turnwire:unsent:${place.name}`, changed);
  }

  get id(): string {
    return this.place.sessionId;
  }

  /** The messages, the oldest first; null from an agent that keeps none. What is there is unsent no more. */
  async history(page?: Page, signal?: AbortSignal): Promise<UIMessage[] | null> {
    const found = await this.place.history(page, signal);
    if (found !== null) this.unsent.settle(found);
    return found;
  }

  /** Answer a question. Throws a `RefusedError` if the answer was not taken. A second click is no second answer: it has
   * the result of the first, until the agent asks again. */
  answer(questionId: string, answer: unknown, { approvalId }: { approvalId?: string } = {}): Promise<void> {
    const before = this.#answers.get(questionId);
    if (before !== undefined) return before;
    const answering = this.place.answer(questionId, answer, approvalId).then(
      () => void this.#taken.add(questionId),
      (error: unknown) => {
        this.#forget(questionId);
        throw error;
      },
    );
    this.#answers.set(questionId, answering);
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > MOST && oldest !== undefined) this.#forget(oldest);
    return answering;
  }

  /** Stop a turn at the agent: the one with this id, or the one that runs. The receipt comes when it is over. */
  stop(turnId?: string): Promise<Receipt> {
    return this.place.stop(turnId);
  }

  /** A question that is stated as open after its answer was taken may be answered again. */
  passed(chunk: UIMessageChunk): void {
    if (!isOpenQuestion(chunk) || !("id" in chunk) || chunk.id === undefined) return;
    if (this.#taken.has(chunk.id)) this.#forget(chunk.id);
  }

  #forget(questionId: string): void {
    this.#answers.delete(questionId);
    this.#taken.delete(questionId);
  }
}

/** What `sendAgain` needs of a chat: `useChat` and `Chat` have it. */
export interface ChatPort {
  messages: UIMessage[];
  sendMessage(message: UIMessage): Promise<void>;
  clearError?(): void;
}

/** Send an unsent prompt again, with its id, unless the agent has it by now. False if it was not sent: the agent has it,
 * or it was sent from elsewhere. Throws where it cannot be known. */
export async function sendAgain(session: TurnwireSession, chat: ChatPort, id: string): Promise<boolean> {
  const history = await session.history();
  if (history !== null && !session.unsent.has(id)) {
    chat.messages = [...history, ...chat.messages.filter((each) => session.unsent.has(each.id))];
    return false;
  }
  const prompt = session.unsent.take(id);
  if (prompt === null) return false;
  chat.messages = chat.messages.filter((each) => each.id !== id);
  chat.clearError?.();
  await chat.sendMessage(prompt.message);
  return true;
}
