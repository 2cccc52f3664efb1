// A prompt of any version as the transcript of the wire.
import type { LanguageModelV2Prompt, LanguageModelV3Prompt, LanguageModelV4Prompt } from "@ai-sdk/provider";

import { file } from "./files.js";
import { result } from "./results.js";
import type { Warnings } from "./warnings.js";
import type { Message, Native, Result } from "./wire.js";

export type Prompt = LanguageModelV2Prompt | LanguageModelV3Prompt | LanguageModelV4Prompt;
type Of<Role> = Extract<Prompt[number], { role: Role }>;
type User = Extract<Message, { type: "user" }>;
type Assistant = Extract<Message, { type: "assistant" }>;

export interface Transcript {
  instructions: string;
  messages: Message[];
}

export function transcript(prompt: Prompt, warnings: Warnings): Transcript {
  const instructions: string[] = [];
  const messages: Message[] = [];
  prompt.forEach((message, at) => {
    const where = `prompt[${at}]`;
    switch (message.role) {
      case "system":
        if (messages.length > 0) warnings.add(where, "a later system message is sent with the first one");
        instructions.push(message.content);
        break;
      case "user":
        messages.push({ type: "user", parts: spoken(message, where, warnings) });
        break;
      case "assistant":
        messages.push(assistant(message, where, warnings));
        break;
      case "tool":
        results(message, where, warnings, messages);
        break;
      default:
        warnings.add(where, `a message of the role ${(message as { role: string }).role} is dropped`);
    }
  });
  return { instructions: instructions.join("\n\n"), messages };
}

function spoken(message: Of<"user">, where: string, warnings: Warnings): User["parts"] {
  const parts: User["parts"] = [];
  for (const part of message.content) {
    if (part.type === "text") parts.push({ type: "text", text: part.text });
    else if (part.type === "file") parts.push(...list(file(part.data, part.mediaType, part.filename, where, warnings)));
    else dropped(part, where, warnings);
  }
  return parts;
}

function assistant(message: Of<"assistant">, where: string, warnings: Warnings): Message {
  const parts: Assistant["parts"] = [];
  const natives: Native[] = [];
  for (const part of message.content) {
    switch (part.type) {
      case "text":
        parts.push({ type: "text", text: part.text });
        break;
      case "reasoning": {
        const native = part.providerOptions?.["turnwire"]?.["native"];
        if (isNative(native)) natives.push(native);
        if (part.text !== "") parts.push({ type: "reasoning", text: part.text });
        break;
      }
      case "tool-call":
        if (part.providerExecuted) dropped(part, where, warnings);
        // What the model wrote and nobody could read is a string still.
        else parts.push({ type: "call", id: part.toolCallId, name: part.toolName, arguments: written(part.input) });
        break;
      case "file":
        parts.push(...list(file(part.data, part.mediaType, part.filename, where, warnings)));
        break;
      default:
        dropped(part, where, warnings);
    }
  }
  const [native] = natives;
  if (natives.length > 1) {
    // They stand for a whole answer each.
    warnings.add(where, "two answers are one message: the blocks of the provider are not sent back");
  }
  return { type: "assistant", parts, ...(native && natives.length === 1 ? { native } : {}) };
}

/** Results of one answer are one message, whatever they came in. */
function results(message: Of<"tool">, where: string, warnings: Warnings, messages: Message[]): void {
  const found: Result[] = [];
  for (const part of message.content) {
    if (part.type === "tool-result") found.push(result(part, where, warnings));
    else dropped(part, where, warnings);
  }
  const last = messages.at(-1);
  if (last?.type === "results") last.results.push(...found);
  else if (found.length > 0) messages.push({ type: "results", results: found });
}

function dropped(part: { type: string }, where: string, warnings: Warnings): void {
  warnings.add(where, `a part of the type ${part.type} is dropped`);
}

function list<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value];
}

function written(input: unknown): string {
  return typeof input === "string" ? input : JSON.stringify(input ?? {});
}

function isNative(value: unknown): value is Native {
  if (typeof value !== "object" || value === null) return false;
  const fields = value as Record<string, unknown>;
  return ["shape", "provider", "model", "blocks"].every((name) => typeof fields[name] === "string");
}
