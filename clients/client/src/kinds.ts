// What a chunk is, where a stream is compared with another of the same turn.
import type { UIMessageChunk } from "ai";

/** How far a call is with this chunk; null for a chunk of no call. */
const STAGES: Record<string, number> = {
  "tool-input-start": 0,
  "tool-input-available": 1,
  "tool-approval-request": 2,
  "tool-input-error": 5,
  "tool-output-available": 5,
  "tool-output-error": 5,
  "tool-output-denied": 5,
};
const PRELIMINARY = 3;
/** The error of a call that has no outcome: one that comes later replaces it. */
const UNRESOLVED = 4;

/** What the gateway states of calls whose outcome it does not know. */
export const NO_RESULT = "No result";

/** Those that begin or end a message, or say something of all of it. */
const OF_THE_MESSAGE = new Set(["start", "finish", "abort", "error", "message-metadata"]);
const OF_A_BLOCK = /^(text|reasoning)-(start|delta|end)$|^tool-input-delta$/;

export function stageOf(chunk: UIMessageChunk): number | null {
  if (chunk.type === "tool-output-available" && chunk.preliminary === true) return PRELIMINARY;
  if (chunk.type === "tool-output-error" && chunk.errorText === NO_RESULT) return UNRESOLVED;
  return STAGES[chunk.type] ?? null;
}

/** Whether such chunks are compared by their number: steps, files, sources, and what a newer gateway may send. */
export function isFlat(chunk: UIMessageChunk): boolean {
  const { type } = chunk;
  if (OF_THE_MESSAGE.has(type) || OF_A_BLOCK.test(type) || stageOf(chunk) !== null) return false;
  return !type.startsWith("data-") || (idOf(chunk) === "" && !isTransient(chunk));
}

/** Whether the reader's message is another with it. What is of the moment may come with every connection. */
export function isLasting(chunk: UIMessageChunk): boolean {
  return !OF_THE_MESSAGE.has(chunk.type) && !isTransient(chunk);
}

export function isTransient(chunk: UIMessageChunk): boolean {
  return "transient" in chunk && chunk.transient === true;
}

/** The id of the call, or of the data part; empty without one. */
export function idOf(chunk: UIMessageChunk): string {
  if ("toolCallId" in chunk) return chunk.toolCallId;
  return chunk.type.startsWith("data-") && "id" in chunk && typeof chunk.id === "string" ? chunk.id : "";
}

export function isOpenQuestion(chunk: UIMessageChunk): boolean {
  return chunk.type === "data-question" && (dataOf(chunk) as { state?: unknown } | null)?.state === "open";
}

/** What a data part says. Each stream signs its own `approvalId`: it is no part of that. */
export function valueOf(chunk: UIMessageChunk): string {
  return JSON.stringify(dataOf(chunk), (name, value: unknown) => (name === "approvalId" ? undefined : value)) ?? "";
}

function dataOf(chunk: UIMessageChunk): unknown {
  return "data" in chunk ? chunk.data : undefined;
}
