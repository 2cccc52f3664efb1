// A look at a session: its history, and then the turn that runs.
import type { AbstractChat, ChatTransport, UIMessage } from "ai";

import type { TurnwireSession } from "./session.js";

/** A chat calls itself ready when a look finds no turn, whatever began meanwhile, and follows a turn twice if it began
 * while it was looked for. So nothing is sent before a look is over. */
export class Look<M extends UIMessage> {
  #underWay: { taken: Promise<void>; signal: AbortSignal | undefined } | null = null;
  #opened: () => void = () => {};
  #stop = new AbortController();

  /** Whether it is not known yet if a turn runs. */
  get isUnderWay(): boolean {
    return this.#underWay !== null;
  }

  /** The transport of a chat whose looks this takes. */
  watched(transport: ChatTransport<M>): ChatTransport<M> {
    return {
      resumeStreamIsReplay: true,
      sendMessages: (prompt) => transport.sendMessages(prompt),
      reconnectToStream: async (look) => {
        this.#stop = new AbortController();
        // Older releases of `ai` hand no signal on: their `stop()` would leave the turn running.
        const { abortSignal = this.#stop.signal } = look as { abortSignal?: AbortSignal };
        const stream = await transport.reconnectToStream({ ...look, abortSignal } as typeof look);
        if (stream !== null) this.#opened();
        return stream;
      },
    };
  }

  /** The user stops the turn that a look found. */
  stop(): void {
    this.#stop.abort();
  }

  /** Read the history, and follow the turn that runs. Over when it is known whether one does; the end of its stream is
   * the turn's end. Two at once are one: a turn would be followed twice.
   *
   * Throws what the history throws. */
  take(chat: AbstractChat<M>, session: TurnwireSession, signal?: AbortSignal): Promise<void> {
    if (this.#underWay !== null && this.#underWay.signal?.aborted !== true) return this.#underWay.taken;
    const taken = this.#take(chat, session, signal);
    const underWay = { taken, signal };
    this.#underWay = underWay;
    void taken
      .catch(() => {}) // Whoever took it is told.
      .then(() => {
        if (this.#underWay === underWay) this.#underWay = null;
      });
    return taken;
  }

  /** Until no look is under way, and the turn that it found is over. */
  async over(chat: AbstractChat<M>): Promise<void> {
    if (this.#underWay === null) return;
    while (this.#underWay !== null) await this.#underWay.taken.catch(() => {});
    while (isBusy(chat)) await new Promise((resolve) => setTimeout(resolve, 50));
  }

  async #take(chat: AbstractChat<M>, session: TurnwireSession, signal?: AbortSignal): Promise<void> {
    const isOld = () => isBusy(chat) || signal?.aborted === true;
    const isRead = await read(chat, session, isOld, signal);
    if (isOld()) return;
    // The half of an answer that broke: older releases of `ai` append to it all that a resumed stream brings.
    const half = !isRead && chat.status === "error" ? chat.messages.at(-1) : undefined;
    if (half?.role === "assistant") chat.messages = chat.messages.slice(0, -1);
    chat.clearError();
    const before = chat.messages.length;
    const opened = new Promise<void>((resolve) => (this.#opened = resolve));
    // Once it is open, the chat has to take notice of it.
    await Promise.race([chat.resumeStream(), opened.then(() => new Promise((resolve) => setTimeout(resolve, 1)))]);
    if (half?.role === "assistant" && !isBusy(chat) && chat.messages.length === before) chat.messages = [...chat.messages, half];
    // It may have ended between the two requests.
    const isMissing = chat.status === "ready" && chat.messages.length === before && chat.messages.at(-1)?.role === "user";
    if (isMissing) await read(chat, session, isOld, signal).catch(() => {});
  }
}

export function isBusy({ status }: { status: string }): boolean {
  return status === "submitted" || status === "streaming";
}

/** Show the history, and behind it what it lacks of this page's prompts; what was begun meanwhile is newer. False if the
 * agent keeps none. */
async function read<M extends UIMessage>(
  chat: AbstractChat<M>,
  session: TurnwireSession,
  isOld: () => boolean,
  signal?: AbortSignal,
): Promise<boolean> {
  const history = await session.history({}, signal);
  if (history === null || isOld()) return history !== null;
  const unsent = new Set(session.unsent.list().map(({ message }) => message.id));
  chat.messages = [...(history as M[]), ...chat.messages.filter(({ id }) => unsent.has(id))];
  return true;
}
