// A whole answer out of its parts, for those who do not stream.
interface Metadata {
  providerMetadata?: Record<string, Record<string, unknown>>;
}

/** What all versions of a stream part have in common here. */
export type AnyPart = { type: string } & Metadata;

export interface Gathered {
  content: AnyPart[];
  finishReason: unknown;
  usage: unknown;
  warnings: unknown[];
  response: { id?: string; modelId?: string };
}

type Block = AnyPart & { type: "text" | "reasoning"; text: string };

/** It throws the error of an `error` part. */
export async function gather(stream: ReadableStream<AnyPart>): Promise<Gathered> {
  const gathered: Gathered = { content: [], finishReason: undefined, usage: undefined, warnings: [], response: {} };
  const open = new Map<string, Block>();
  for await (const part of read(stream)) {
    const { type, id, delta } = part as AnyPart & { id: string; delta: string };
    switch (type) {
      case "text-start":
      case "reasoning-start": {
        const block: Block = { type: type === "text-start" ? "text" : "reasoning", text: "" };
        open.set(id, block);
        gathered.content.push(block);
        break;
      }
      case "text-delta":
      case "reasoning-delta": {
        const block = open.get(id);
        if (block) block.text += delta;
        break;
      }
      case "text-end":
      case "reasoning-end": {
        const block = open.get(id);
        if (block && part.providerMetadata) block.providerMetadata = part.providerMetadata;
        break;
      }
      case "tool-call":
      case "file":
      case "source":
        gathered.content.push(part);
        break;
      case "stream-start":
        gathered.warnings = (part as AnyPart & { warnings: unknown[] }).warnings;
        break;
      case "response-metadata": {
        const { id: named, modelId } = part as AnyPart & { id: string; modelId: string };
        gathered.response = { id: named, modelId };
        break;
      }
      case "error":
        throw (part as AnyPart & { error: unknown }).error;
      case "finish":
        Object.assign(gathered, finish(part));
    }
  }
  return gathered;
}

function finish(part: AnyPart): Pick<Gathered, "finishReason" | "usage"> {
  const { finishReason, usage } = part as AnyPart & { finishReason: unknown; usage: unknown };
  return { finishReason, usage };
}

async function* read<T>(stream: ReadableStream<T>): AsyncGenerator<T> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
