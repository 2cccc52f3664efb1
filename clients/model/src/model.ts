// A language model of a version of the specification, over the server.
import type { LanguageModelV2, LanguageModelV3, LanguageModelV4 } from "@ai-sdk/provider";

import { call, type Server } from "./call.js";
import { type AnyPart, gather } from "./gather.js";
import { type CallOptions, question, type Settings } from "./question.js";
import { FAILED, type Specification, type StreamParts, translated } from "./versions.js";
import type { Warning } from "./warnings.js";
import type { Part } from "./wire.js";

export interface Models {
  v2: LanguageModelV2;
  v3: LanguageModelV3;
  v4: LanguageModelV4;
}

/** What the server is not sent, a file by its address: the SDK fetches it. */
const NO_ADDRESSES: Record<string, RegExp[]> = {};

export interface ModelOptions<S extends Specification = Specification> extends Settings {
  /** Which version of `LanguageModel` it is: `v4` for `ai` 7, `v3` for 6, `v2` for 5. */
  specification?: S;
  /** Addresses that the provider fetches itself, by media type. The SDK fetches all others. */
  supportedUrls?: Record<string, RegExp[]>;
}

export function model<S extends Specification>(
  server: Server,
  route: string,
  specification: S,
  { specification: _, supportedUrls = NO_ADDRESSES, ...settings }: ModelOptions<S>,
): Models[S] {
  async function doStream(options: CallOptions) {
    const { question: asked, body, warnings } = question(route, options, settings);
    const { parts, headers } = await call(server, body, options);
    return {
      stream: parts.pipeThrough(translator(specification, warnings)),
      request: { body: asked },
      response: { headers },
    };
  }

  async function doGenerate(options: CallOptions) {
    const { stream, request, response } = await doStream(options);
    const { response: named, ...gathered } = await gather(stream as ReadableStream<AnyPart>);
    return { ...gathered, request, response: { ...named, ...response } };
  }

  const made = { specificationVersion: specification, provider: "turnwire", modelId: route, supportedUrls };
  return { ...made, doStream, doGenerate } as unknown as Models[S];
}

function translator<S extends Specification>(
  specification: S,
  warnings: Warning[],
): TransformStream<Part, StreamParts[S]> {
  return new TransformStream({
    transform(part, controller) {
      for (const each of part.type === "error" ? [part, FAILED] : [part]) {
        const made = translated(specification, each, warnings);
        if (made !== undefined) controller.enqueue(made);
      }
    },
  });
}
