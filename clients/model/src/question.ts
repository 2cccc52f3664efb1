// The options of a call, of any version, as a question of the wire.
import type {
  LanguageModelV2CallOptions,
  LanguageModelV3CallOptions,
  LanguageModelV4CallOptions,
} from "@ai-sdk/provider";

import { transcript } from "./transcript.js";
import { type Warning, Warnings } from "./warnings.js";
import type { Effort, Question } from "./wire.js";

export type CallOptions = LanguageModelV2CallOptions | LanguageModelV3CallOptions | LanguageModelV4CallOptions;
type Tool = NonNullable<CallOptions["tools"]>[number];

/** What a call may say in `providerOptions.turnwire`, and a model by its options for all its calls. */
export interface Settings {
  effort?: Effort;
  parallelTools?: boolean;
}

/** Settings of a call by the fields that carry them. */
export const CARRIED = {
  maxOutputTokens: "max_tokens",
  temperature: "temperature",
  topP: "top_p",
  stopSequences: "stop",
} as const satisfies Partial<Record<keyof CallOptions, keyof Question>>;

/** Settings that no field carries: each is a warning. */
export const NOT_CARRIED = ["topK", "presencePenalty", "frequencyPenalty", "seed"] as const satisfies readonly (
  keyof CallOptions
)[];

const HALF = /\p{Surrogate}/u;
const HALVES = /\p{Surrogate}/gu;

/** How much a model may think, in the words of V4. */
export const EFFORTS: Record<string, Effort> = {
  none: "none",
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "high",
  max: "high",
};

export function question(
  model: string,
  options: CallOptions,
  settings: Settings,
): { question: Question; body: string; warnings: Warning[] } {
  const warnings = new Warnings();
  const { instructions, messages } = transcript(options.prompt, warnings);
  const made: Question = { model, transcript: messages };
  if (instructions !== "") made.instructions = instructions;
  for (const [name, field] of Object.entries(CARRIED) as [keyof typeof CARRIED, "max_tokens"][]) {
    const value = options[name];
    if (value !== undefined) Object.assign(made, { [field]: value });
  }
  for (const name of NOT_CARRIED) {
    if (options[name] !== undefined) warnings.add(name, "it is not sent");
  }
  if (options.includeRawChunks) warnings.add("includeRawChunks", "the provider's own events stay at the server");
  format(options, made, warnings);
  tools(options, made, warnings);
  think(options, settings, made, warnings);
  const body = JSON.stringify(made, (_key, value: unknown) => wellFormed(value, warnings));
  return { question: made, body, warnings: warnings.all };
}

/** Text that was cut in the middle of an emoji is no UTF-8, and would make a conversation unusable. */
function wellFormed(value: unknown, warnings: Warnings): unknown {
  if (typeof value !== "string" || !HALF.test(value)) return value;
  warnings.add("prompt", "half of a character is sent as U+FFFD");
  return value.replace(HALVES, "\ufffd");
}

function format(options: CallOptions, made: Question, warnings: Warnings): void {
  const asked = options.responseFormat;
  if (asked?.type !== "json") return;
  if (asked.schema) made.answer_schema = asked.schema;
  else warnings.add("responseFormat", "JSON without a schema is not asked for");
}

function tools(options: CallOptions, made: Question, warnings: Warnings): void {
  const sent = (options.tools ?? []).flatMap((tool) => {
    if (tool.type !== "function") {
      warnings.add(`tools.${tool.name}`, "a tool of a provider is not sent", tool);
      return [];
    }
    tellLosses(tool, warnings);
    const { name, description, inputSchema: schema } = tool;
    return [{ name, schema, ...(description === undefined ? {} : { description }) }];
  });
  if (sent.length > 0) made.tools = sent;
  const choice = options.toolChoice;
  if (choice) made.tool_choice = choice.type === "tool" ? { name: choice.toolName } : choice.type;
}

function tellLosses(tool: Extract<Tool, { type: "function" }>, warnings: Warnings): void {
  const where = `tools.${tool.name}`;
  if ("strict" in tool && tool.strict !== undefined) {
    warnings.add(where, "strict is not sent: the server holds the model to a schema where nothing of it is lost");
  }
  if ("inputExamples" in tool && tool.inputExamples !== undefined) {
    warnings.add(where, "inputExamples are not sent");
  }
}

function think(options: CallOptions, settings: Settings, made: Question, warnings: Warnings): void {
  const own: Record<string, unknown> = { ...settings, ...options.providerOptions?.["turnwire"] };
  const reasoning = "reasoning" in options ? options.reasoning : undefined;
  if (reasoning !== undefined && reasoning !== "provider-default") {
    const effort = EFFORTS[reasoning];
    if (effort !== undefined) made.effort = effort;
    if (effort !== reasoning) warnings.add("reasoning", effort ? `${reasoning} is sent as ${effort}` : "it is not sent");
  }
  for (const [name, value] of Object.entries(own)) {
    if (name === "effort") made.effort ??= value as Effort;
    else if (name === "parallelTools") made.parallel_tools = value as boolean;
    else warnings.add(`providerOptions.turnwire.${name}`, "there is no such setting");
  }
}
