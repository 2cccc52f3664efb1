// The chats of `@ai-sdk/vue`. What a page shows is read through `computed`, as a template reads it: what
// the reactivity missed is missing in the report too.

/** `vue` and the framework's own chat: `useChat` where there is one, else the class. */
export function ofVue({ computed, effectScope, watch }, { Chat, useChat }) {
  return (init) => {
    const scope = effectScope();
    return scope.run(() => {
      const chat = useChat ? withValues(useChat(init)) : new Chat(init);
      // Each by itself: a change that one of them missed is not hidden by the others.
      const messages = computed(() => JSON.stringify(chat.messages));
      const status = computed(() => chat.status);
      const error = computed(() => chat.error?.message ?? null);
      const view = () => ({
        messages: JSON.parse(messages.value),
        status: status.value,
        error: error.value,
      });
      view();
      return {
        chat,
        view,
        watch(onStatus, onMessages) {
          scope.run(() => {
            watch(() => chat.status, onStatus, { flush: "sync" });
            watch(() => chat.messages, onMessages, { flush: "sync", deep: true });
          });
        },
      };
    });
  };
}

/** What `useChat` returns, with values in the place of refs. */
function withValues({ messages, status, error, ...methods }) {
  return {
    ...methods,
    get messages() {
      return messages.value;
    },
    set messages(given) {
      messages.value = given;
    },
    get status() {
      return status.value;
    },
    get error() {
      return error.value;
    },
  };
}
