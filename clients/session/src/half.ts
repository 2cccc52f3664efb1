// The half of an answer whose stream broke: it stands there until the new stream of its turn brings it anew.
import type { AbstractChat, UIMessage } from "ai";

type Chat = AbstractChat<UIMessage>;

/** At most one message: a history that was read meanwhile ends with its prompt. */
export class Half {
  #message: UIMessage | null = null;

  /** Set the messages to those of a history, and behind them to the half that it lacks. `runs` says whether
   * the turn of that half may run. Returns how many messages are the history's. */
  show(chat: Chat, shown: readonly UIMessage[], runs: boolean): number {
    const last = chat.lastMessage;
    const isHalf = runs && last?.role === "assistant" && shown.at(-1)?.role === "user";
    this.#message = isHalf && shown.every(({ id }) => id !== last.id) ? withoutEnd(last) : null;
    chat.messages = this.#message === null ? [...shown] : [...shown, this.#message];
    return shown.length;
  }

  /** The messages but that half. */
  without(chat: Chat): UIMessage[] {
    return chat.messages.filter((each) => each !== this.#message);
  }

  /** A stream has begun, of the turn with this id: the half of another stands in a history sooner or later. */
  began(chat: Chat, turnId: string | undefined): void {
    if (this.#message?.id !== turnId) this.leave(chat);
  }

  /** No stream brings it anew. One that was brought anew is another message by now. */
  leave(chat: Chat): void {
    const rest = this.without(chat);
    this.#message = null;
    if (rest.length < chat.messages.length) chat.messages = rest;
  }
}

/** That its stream broke is no end of the answer. */
function withoutEnd(message: UIMessage): UIMessage {
  const { finish: _, ...metadata } = (message.metadata ?? {}) as Record<string, unknown>;
  return { ...message, metadata };
}
