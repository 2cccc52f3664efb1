// How a job's chat is made: each opener takes the init of a chat, and gives the chat, a `view` of what a
// page shows of it, and a `watch` that calls back when its status or its messages changed.

const direct = (chat) => () => ({
  messages: structuredClone(chat.messages),
  status: chat.status,
  error: chat.error?.message ?? null,
});

/** The chat of `@ai-sdk/react`. */
export function ofReact(Chat) {
  return (init) => {
    const chat = new Chat(init);
    const watch = (onStatus, onMessages) => {
      chat["~registerStatusCallback"](onStatus);
      chat["~registerMessagesCallback"](onMessages);
    };
    return { chat, view: direct(chat), watch };
  };
}

/** The SDK's own chat over a state that no framework keeps: what all others are compared with. */
export function ofNone({ AbstractChat }) {
  return ({ messages, ...init }) => {
    let onMessages = () => {};
    let onStatus = () => {};
    const kept = { messages: [...messages], status: "ready", error: undefined };
    const state = {
      snapshot: structuredClone,
      get messages() {
        return kept.messages;
      },
      set messages(given) {
        kept.messages = [...given];
        onMessages();
      },
      get status() {
        return kept.status;
      },
      set status(given) {
        kept.status = given;
        onStatus();
      },
      get error() {
        return kept.error;
      },
      set error(given) {
        kept.error = given;
      },
      pushMessage(message) {
        state.messages = [...kept.messages, message];
      },
      popMessage() {
        state.messages = kept.messages.slice(0, -1);
      },
      replaceMessage(place, message) {
        state.messages = kept.messages.with(place, structuredClone(message));
      },
    };
    const chat = new (class extends AbstractChat {})({ ...init, state });
    const watch = (statusChanged, messagesChanged) => {
      onStatus = statusChanged;
      onMessages = messagesChanged;
    };
    return { chat, view: direct(chat), watch };
  };
}
