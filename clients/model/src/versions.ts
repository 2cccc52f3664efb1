// What a part of an answer is in each version of the specification: a table each.
import type {
  LanguageModelV2CallWarning,
  LanguageModelV2StreamPart,
  LanguageModelV2Usage,
  LanguageModelV3StreamPart,
  LanguageModelV3Usage,
  LanguageModelV4StreamPart,
  SharedV4Warning,
} from "@ai-sdk/provider";

import { TurnwireError } from "./errors.js";
import type { Warning } from "./warnings.js";
import type { Part, Usage } from "./wire.js";

export type Specification = "v2" | "v3" | "v4";

export interface StreamParts {
  v2: LanguageModelV2StreamPart;
  v3: LanguageModelV3StreamPart;
  v4: LanguageModelV4StreamPart;
}

type Of<Type extends Part["type"]> = Extract<Part, { type: Type }>;
type Table<S extends Specification> = {
  [Type in Part["type"]]: (part: Of<Type>, warnings: Warning[]) => StreamParts[S];
};

const NO_USAGE: Usage = {
  inputTokens: { total: null, noCache: null, cacheRead: null, cacheWrite: null },
  outputTokens: { total: null, text: null, reasoning: null },
};

/** Parts with the same words everywhere. */
const SAME = {
  "response-metadata": (part: Of<"response-metadata">) => part,
  "text-start": (part: Of<"text-start">) => part,
  "text-delta": (part: Of<"text-delta">) => part,
  "text-end": (part: Of<"text-end">) => part,
  "reasoning-start": (part: Of<"reasoning-start">) => part,
  "reasoning-delta": (part: Of<"reasoning-delta">) => part,
  "reasoning-end": ({ type, id, providerMetadata }: Of<"reasoning-end">) => ({
    type,
    id,
    ...(providerMetadata ? { providerMetadata: metadata(providerMetadata) } : {}),
  }),
  "tool-input-start": (part: Of<"tool-input-start">) => part,
  "tool-input-delta": (part: Of<"tool-input-delta">) => part,
  "tool-input-end": (part: Of<"tool-input-end">) => part,
  "tool-call": (part: Of<"tool-call">) => part,
  source: (part: Of<"source">) => part,
  error: ({ type, error }: Of<"error">) => ({ type, error: new TurnwireError(error) }),
} as const;

export const TABLES: { [S in Specification]: Table<S> } = {
  v4: {
    ...SAME,
    "stream-start": (part, warnings) => ({ type: "stream-start", warnings: unsupported(part, warnings) }),
    file: (part) => part,
    finish: ({ type, finishReason: { unified, raw }, usage }) => ({
      type,
      finishReason: { unified, raw: raw || undefined },
      usage: counted(usage),
    }),
  },
  v3: {
    ...SAME,
    "stream-start": (part, warnings) => ({ type: "stream-start", warnings: unsupported(part, warnings) }),
    file: ({ type, mediaType, data }) => ({ type, mediaType, data: data.data }),
    finish: ({ type, finishReason: { unified, raw }, usage }) => ({
      type,
      finishReason: { unified, raw: raw || undefined },
      usage: counted(usage),
    }),
  },
  v2: {
    ...SAME,
    "stream-start": (part, warnings) => ({ type: "stream-start", warnings: ofV2(part, warnings) }),
    file: ({ type, mediaType, data }) => ({ type, mediaType, data: data.data }),
    finish: ({ type, finishReason: { unified }, usage }) => ({ type, finishReason: unified, usage: flat(usage) }),
  },
};

/** A part in a version; undefined for one that a newer server sends. */
export function translated<S extends Specification>(
  specification: S,
  part: Part,
  warnings: Warning[],
): StreamParts[S] | undefined {
  const table = TABLES[specification] as Record<string, (part: Part, warnings: Warning[]) => StreamParts[S]>;
  return Object.hasOwn(table, part.type) ? table[part.type]?.(part, warnings) : undefined;
}

/** The end of an answer that failed, as the SDK's own providers tell it. */
export const FAILED: Part = { type: "finish", finishReason: { unified: "error", raw: "" }, usage: NO_USAGE };

function metadata(told: NonNullable<Of<"reasoning-end">["providerMetadata"]>) {
  return told as unknown as Record<string, Record<string, Record<string, string>>>;
}

function unsupported(part: Of<"stream-start">, warnings: Warning[]): Extract<SharedV4Warning, { type: "unsupported" }>[] {
  const own = warnings.map(({ feature, details }) => ({ type: "unsupported" as const, feature, details }));
  return [...own, ...part.warnings];
}

function ofV2(part: Of<"stream-start">, warnings: Warning[]): LanguageModelV2CallWarning[] {
  const own = warnings.map(({ feature, details, tool }) => {
    if (tool !== undefined) return { type: "unsupported-tool", tool, details } as LanguageModelV2CallWarning;
    // Places in the prompt and names of tools have a dot or a bracket.
    if (/^[A-Za-z]+$/.test(feature)) return { type: "unsupported-setting" as const, setting: feature, details };
    return { type: "other" as const, message: `${feature}: ${details}` };
  });
  const ofServer = part.warnings.map(({ feature, details }) => ({
    type: "other" as const,
    message: `${feature}: ${details}`,
  }));
  return [...own, ...ofServer];
}

function counted({ inputTokens: input, outputTokens: output }: Usage): LanguageModelV3Usage {
  return {
    inputTokens: {
      total: input.total ?? undefined,
      noCache: input.noCache ?? undefined,
      cacheRead: input.cacheRead ?? undefined,
      cacheWrite: input.cacheWrite ?? undefined,
    },
    outputTokens: {
      total: output.total ?? undefined,
      text: output.text ?? undefined,
      reasoning: output.reasoning ?? undefined,
    },
  };
}

function flat({ inputTokens: input, outputTokens: output }: Usage): LanguageModelV2Usage {
  const known = input.total !== null && output.total !== null;
  return {
    inputTokens: input.total ?? undefined,
    outputTokens: output.total ?? undefined,
    totalTokens: known ? Number(input.total) + Number(output.total) : undefined,
    reasoningTokens: output.reasoning ?? undefined,
    cachedInputTokens: input.cacheRead ?? undefined,
  };
}
