import { DefaultChatTransport, type UIMessage, type UIMessageChunk } from "ai";

export class CutShort extends Error {
  constructor() {
    super("The stream ended without an ending");
    this.name = "CutShort";
  }
}

type Stream = ReadableStream<UIMessageChunk>;

interface Finish {
  reason: string;
  errorText?: string;
}

/** How the turn of an answer ended that did not end by itself: as the gateway's history tells it. */
export function finishOf(message: UIMessage | undefined): Finish | undefined {
  return (message?.metadata as { finish?: Finish } | undefined)?.finish;
}

/** The SDK's transport, for which a stream that ends without `finish` is a failure. */
export class Transport extends DefaultChatTransport<UIMessage> {
  constructor(
    api: string,
    send: typeof fetch,
    /** Told when the gateway said whether a turn runs, and when the turn of a prompt began. */
    private readonly looked: (runs: boolean) => void,
  ) {
    super({
      api,
      fetch: send,
      prepareSendMessagesRequest: ({ id, messages, trigger, messageId }) => ({
        // The agent owns the history, and only the last message is read.
        body: { id, messages: messages.slice(-1), trigger, messageId },
      }),
    });
  }

  override async sendMessages(...args: Parameters<DefaultChatTransport<UIMessage>["sendMessages"]>): Promise<Stream> {
    return whole(await super.sendMessages(...args), () => this.looked(true));
  }

  override async reconnectToStream(
    ...args: Parameters<DefaultChatTransport<UIMessage>["reconnectToStream"]>
  ): Promise<Stream | null> {
    const stream = await super.reconnectToStream(...args);
    this.looked(stream !== null);
    return stream === null ? null : whole(stream, () => {});
  }
}

/** The same stream, which fails if it just ends, and whose message says what its history will say. */
function whole(stream: Stream, begins: () => void): Stream {
  let heard = false;
  let began = false;
  let finished = false;
  return stream.pipeThrough(
    new TransformStream<UIMessageChunk, UIMessageChunk>({
      transform(chunk, controller) {
        if (!heard && tells(chunk)) {
          heard = true;
          begins();
        }
        finished ||= chunk.type === "finish";
        began ||= chunk.type === "start" && chunk.messageId !== undefined;
        const finish = endOf(chunk);
        if (began && finish !== null) controller.enqueue({ type: "message-metadata", messageMetadata: { finish } });
        controller.enqueue(chunk);
      },
      flush(controller) {
        if (!finished) controller.error(new CutShort());
      },
    }),
  );
}

/** Whether this is of a turn. What the gateway itself says of one that never began has no id. */
function tells(chunk: UIMessageChunk): boolean {
  return chunk.type === "start" ? chunk.messageId !== undefined : chunk.type.endsWith("-start");
}

function endOf(chunk: UIMessageChunk): Finish | null {
  if (chunk.type === "abort") return { reason: "canceled" };
  return chunk.type === "error" ? { reason: "error", errorText: chunk.errorText } : null;
}
