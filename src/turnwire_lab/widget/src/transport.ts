import { DefaultChatTransport, type UIMessage, type UIMessageChunk } from "ai";

export class CutShort extends Error {
  constructor() {
    super("The stream ended without an ending");
    this.name = "CutShort";
  }
}

type Stream = ReadableStream<UIMessageChunk>;

/** The SDK's transport, for which a stream that ends without `finish` is a failure. */
export class Transport extends DefaultChatTransport<UIMessage> {
  constructor(
    api: string,
    send: typeof fetch,
    /** Told when the gateway said whether a turn runs. */
    private readonly looked: () => void,
  ) {
    super({
      api,
      fetch: send,
      prepareSendMessagesRequest: ({ id, messages, trigger, messageId }) => ({
        // A reload must not end the turn, whatever the gateway does for other clients.
        api: `${api}?onDisconnect=grace`,
        // The agent owns the history, and only the last message is read.
        body: { id, messages: messages.slice(-1), trigger, messageId },
      }),
    });
  }

  override async sendMessages(...args: Parameters<DefaultChatTransport<UIMessage>["sendMessages"]>): Promise<Stream> {
    return whole(await super.sendMessages(...args));
  }

  override async reconnectToStream(
    ...args: Parameters<DefaultChatTransport<UIMessage>["reconnectToStream"]>
  ): Promise<Stream | null> {
    const stream = await super.reconnectToStream(...args);
    this.looked();
    return stream === null ? null : whole(stream);
  }
}

function whole(stream: Stream): Stream {
  let finished = false;
  return stream.pipeThrough(
    new TransformStream<UIMessageChunk, UIMessageChunk>({
      transform(chunk, controller) {
        finished ||= chunk.type === "finish";
        controller.enqueue(chunk);
      },
      flush(controller) {
        if (!finished) controller.error(new CutShort());
      },
    }),
  );
}
