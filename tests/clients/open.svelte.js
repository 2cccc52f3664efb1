// The chat of `@ai-sdk/svelte`. What a page shows is a `$derived`, as a template reads it.

export function ofSvelte(Chat) {
  return (init) => {
    const chat = new Chat(init);
    const shown = $derived(
      JSON.stringify([chat.messages, chat.status, chat.error?.message ?? null]),
    );
    const view = () => {
      const [messages, status, error] = JSON.parse(shown);
      return { messages, status, error };
    };
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
