// The chat of `@ai-sdk/svelte`. What a page shows is a `$derived`, as a template reads it.

export function ofSvelte(Chat) {
  return (init) => {
    const chat = new Chat(init);
    // Each by itself: a change that one of them missed is not hidden by the others.
    const messages = $derived(JSON.stringify(chat.messages));
    const status = $derived(chat.status);
    const error = $derived(chat.error?.message ?? null);
    const view = () => ({ messages: JSON.parse(messages), status, error });
    view();
    return {
      chat,
      view,
      watch(onStatus, onMessages) {
        $effect.root(() => {
          $effect(() => {
            onStatus(chat.status);
          });
          $effect(() => {
            $state.snapshot(chat.messages);
            onMessages();
          });
        });
      },
    };
  };
}
