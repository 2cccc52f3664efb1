import { getToolName, isToolUIPart, type UIMessage } from "ai";

import type { Asked } from "./Question";

type ToolPart = Extract<UIMessage["parts"][number], { toolCallId: string }>;
type State = "waiting" | "running" | "done" | "failed" | "denied" | "canceled";

// What the gateway says of a call whose turn was stopped.
const CANCELED = "Canceled";

export function Tool({ part, message }: { part: ToolPart; message: UIMessage }) {
  const name = getToolName(part);
  const state = stateOf(part, message);
  return (
    <details class="card tool" data-tool={name} data-tool-state={state}>
      <summary>
        <span class="name">{name}</span> <span class="state">{state === "waiting" ? "needs approval" : state}</span>
      </summary>
      <Json name={`Input of ${name}`} value={part.input} />
      {part.state === "output-available" && <Json name={`Output of ${name}`} value={part.output} />}
      {part.state === "output-error" && <p class={state === "failed" ? "failure" : "outcome"}>{part.errorText}</p>}
    </details>
  );
}

/** Whether this is of a tool that runs. */
export function runs(part: UIMessage["parts"][number] | undefined): boolean {
  return part !== undefined && isToolUIPart(part) && part.state.startsWith("input-");
}

function stateOf(part: ToolPart, message: UIMessage): State {
  const asked = approvalOf(part, message);
  switch (part.state) {
    case "output-available":
      return "done";
    case "output-denied":
      return "denied";
    case "output-error":
      if (part.errorText === CANCELED) return "canceled";
      return asked?.state === "resolved" && isNo(asked.answer) ? "denied" : "failed";
    case "approval-requested":
      return "waiting";
    default:
      return asked?.state === "open" ? "waiting" : "running";
  }
}

/** The question that has to be approved before the tool runs; as last told. */
function approvalOf({ toolCallId }: ToolPart, { parts }: UIMessage): Asked | undefined {
  const about = parts.map((part) => (part.type === "data-question" ? (part.data as Asked) : undefined));
  return about.findLast((asked) => asked?.kind === "approval" && asked.callId === toolCallId);
}

function isNo(answer: unknown): boolean {
  const said = (answer as { approved?: unknown } | null | undefined)?.approved ?? answer;
  return said === false || (typeof said === "string" && /^\s*(deny|denied|no|reject|rejected)\s*$/i.test(said));
}

function Json({ name, value }: { name: string; value: unknown }) {
  return (
    <pre tabIndex={0} role="group" aria-label={name}>
      {JSON.stringify(value ?? null, null, 2)}
    </pre>
  );
}
