// What became of a call, in the words of each version, as a result of the wire.
import type {
  LanguageModelV2ToolResultOutput,
  LanguageModelV3ToolResultOutput,
  LanguageModelV4ToolResultOutput,
} from "@ai-sdk/provider";

import { file } from "./files.js";
import type { Warnings } from "./warnings.js";
import type { Result } from "./wire.js";

export type Output =
  | LanguageModelV2ToolResultOutput
  | LanguageModelV3ToolResultOutput
  | LanguageModelV4ToolResultOutput;
type Kind = Output["type"];
type Piece = Extract<Output, { type: "content" }>["value"][number];

/** How a call of each kind of output ended. */
export const OUTCOMES: Record<Kind, Result["outcome"]> = {
  text: "done",
  json: "done",
  content: "done",
  "error-text": "failed",
  "error-json": "failed",
  "execution-denied": "denied",
};

export function result(
  part: { toolCallId: string; toolName: string; output: Output },
  where: string,
  warnings: Warnings,
): Result {
  const { output } = part;
  return {
    call_id: part.toolCallId,
    name: part.toolName,
    content: content(output, where, warnings),
    // One that is not known here is no good news.
    outcome: OUTCOMES[output.type] ?? "failed",
  };
}

function content(output: Output, where: string, warnings: Warnings): Result["content"] {
  switch (output.type) {
    case "text":
    case "error-text":
      return text(output.value);
    case "json":
    case "error-json":
      return text(JSON.stringify(output.value ?? null));
    case "execution-denied":
      return text(output.reason ?? "");
    case "content":
      return output.value.flatMap((piece) => pieces(piece, where, warnings));
    default:
      warnings.add(where, `an output of the type ${(output as Output).type} is dropped`);
      return [];
  }
}

function pieces(piece: Piece, where: string, warnings: Warnings): Result["content"] {
  switch (piece.type) {
    case "text":
      return text(piece.text);
    case "media":
    case "image-data":
      return some(file(piece.data, piece.mediaType, undefined, where, warnings));
    case "file-data":
    case "file":
      return some(file(piece.data, piece.mediaType, piece.filename, where, warnings));
    case "image-url":
      return some(file(new URL(piece.url), "image/*", undefined, where, warnings));
    default:
      warnings.add(where, `${piece.type} in an output is dropped`);
      return [];
  }
}

function some<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value];
}

function text(value: string): Result["content"] {
  return value === "" ? [] : [{ type: "text", text: value }];
}
