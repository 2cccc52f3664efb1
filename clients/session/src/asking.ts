// What of a message waits for its user: approvals, which end the stream, and questions, which do not.
import { isToolUIPart, type UIMessage } from "ai";

type Part = UIMessage["parts"][number];

export function asksApproval(message: UIMessage | undefined): boolean {
  return message?.parts.some(isOpenApproval) ?? false;
}

export function asksAnything(message: UIMessage | undefined): boolean {
  return message?.parts.some((part) => isOpenApproval(part) || isOpenQuestion(part)) ?? false;
}

/** The same message when the turn that asked was stopped, with the words of the gateway. */
export function stopped(message: UIMessage): UIMessage {
  const parts = message.parts.map((part): Part => {
    if (!isToolUIPart(part) || part.state !== "approval-requested") return part;
    const { approval: _, ...call } = part;
    return { ...call, state: "output-error", errorText: "Canceled" };
  });
  return { ...message, parts };
}

function isOpenApproval(part: Part): boolean {
  return isToolUIPart(part) && part.state === "approval-requested";
}

function isOpenQuestion(part: Part): boolean {
  return part.type === "data-question" && "data" in part && (part.data as { state?: unknown } | null)?.state === "open";
}
