// A message of the history as the chunks that give it.
import type { UIMessage, UIMessageChunk } from "ai";

import { messageOf, type Placed } from "./arrival.js";
import { finishOf } from "./options.js";

/** Any part, as JSON has it. */
type Part = Record<string, unknown> & { type: string };

/** The chunks that give this message, without its start and its end. Each text comes as one delta. Parts of a newer
 * gateway are left out; so are approvals that are questions, where the reader gets native ones. */
export function* chunksOf(message: UIMessage, isNative: boolean): Generator<UIMessageChunk> {
  let isInStep = false;
  for (const [number, part] of (message.parts as unknown as Part[]).entries()) {
    if (part.type !== "step-start") {
      if (!isNative || !isApproval(part)) yield* chunksOfPart(part, `${message.id}:h${number}`);
      continue;
    }
    if (isInStep) yield { type: "finish-step" };
    isInStep = true;
    yield { type: "start-step" };
  }
  if (isInStep) yield { type: "finish-step" };
}

/** How the turn of this message ended, of a history with `finish: true`. */
export function endOf(message: UIMessage): UIMessageChunk[] {
  const finish = finishOf(message);
  const { finish: _, ...more } = (message.metadata ?? {}) as Record<string, unknown>;
  const end: UIMessageChunk = Object.keys(more).length === 0 ? { type: "finish" } : { type: "finish", messageMetadata: more };
  if (finish?.reason === "error") return [{ type: "error", errorText: finish.errorText ?? "" }, end];
  return finish?.reason === "canceled" ? [{ type: "abort" }, end] : [end];
}

/** The answer with this id; if that is not known, the one right behind the prompt. */
export function answerIn(history: readonly UIMessage[], answerId?: string, prompt?: Placed): UIMessage | undefined {
  if (answerId !== undefined) return history.findLast(({ id }) => id === answerId);
  const asked = prompt === undefined ? undefined : messageOf(prompt, history);
  // What stands behind any other prompt is the answer to another question.
  const behind = asked === undefined ? undefined : history[history.indexOf(asked) + 1];
  return behind?.role === "assistant" ? behind : undefined;
}

function isApproval({ type, data }: Part): boolean {
  return type === "data-question" && (data as { kind?: unknown } | null)?.kind === "approval";
}

function* chunksOfPart(part: Part, id: string): Generator<UIMessageChunk> {
  const { type } = part;
  if (type === "text" || type === "reasoning") {
    yield { type: `${type}-start`, id };
    yield { type: `${type}-delta`, id, delta: String(part["text"]) };
    yield { type: `${type}-end`, id };
  } else if (type === "file" || type === "source-url" || type === "source-document" || type.startsWith("data-")) {
    yield part as unknown as UIMessageChunk;
  } else if (type === "dynamic-tool" || type.startsWith("tool-")) {
    yield* chunksOfCall(part);
  }
}

function* chunksOfCall(part: Part): Generator<UIMessageChunk> {
  const { toolCallId, input, output, errorText, type } = part as Part & { toolCallId: string; errorText?: string };
  const isDynamic = type === "dynamic-tool";
  const toolName = isDynamic ? String(part["toolName"]) : type.slice("tool-".length);
  const flags = { providerExecuted: true, ...(isDynamic && { dynamic: true }) };
  if (!("input" in part)) yield { type: "tool-input-start", toolCallId, toolName, ...flags };
  else yield { type: "tool-input-available", toolCallId, toolName, input, ...flags };
  const approval = part["approval"] as { id?: unknown } | undefined;
  if (typeof approval?.id === "string") yield { type: "tool-approval-request", toolCallId, approvalId: approval.id };
  if (part["state"] === "output-available") yield { type: "tool-output-available", toolCallId, output, ...flags };
  if (part["state"] === "output-error") yield { type: "tool-output-error", toolCallId, errorText: errorText ?? "", ...flags };
}
