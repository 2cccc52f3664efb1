// The AI SDK's chat, without a framework around it.
import { AbstractChat, type ChatInit, type ChatState, type ChatStatus, type UIMessage } from "ai";

/** What the session gives a chat: everything but its first messages, which are the agent's. */
export type Init = Omit<ChatInit<UIMessage>, "messages">;

export class PlainChat extends AbstractChat<UIMessage> {
  constructor(init: Init, changed: () => void) {
    super({ ...init, state: new State(changed) });
  }
}

class State implements ChatState<UIMessage> {
  #status: ChatStatus = "ready";
  #error: Error | undefined;
  #messages: UIMessage[] = [];

  constructor(private readonly changed: () => void) {}

  get status() {
    return this.#status;
  }
  set status(status) {
    this.#status = status;
    this.changed();
  }
  get error() {
    return this.#error;
  }
  set error(error) {
    this.#error = error;
    this.changed();
  }
  get messages() {
    return this.#messages;
  }
  set messages(messages) {
    this.#messages = [...messages];
    this.changed();
  }

  pushMessage = (message: UIMessage): void => {
    this.messages = [...this.#messages, message];
  };
  popMessage = (): void => {
    this.messages = this.#messages.slice(0, -1);
  };
  replaceMessage = (index: number, message: UIMessage): void => {
    this.messages = this.#messages.map((each, at) => (at === index ? message : each));
  };
  snapshot = <T>(thing: T): T => structuredClone(thing);
}
