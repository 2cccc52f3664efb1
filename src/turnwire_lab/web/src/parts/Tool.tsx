import type { ToolCallMessagePartProps } from "@assistant-ui/react";
import { useEffect, useMemo, useRef, useState } from "react";

import { useView } from "../App";
import { useConversationHere } from "../context";
import { Icon } from "../Icon";
import { picturesOf } from "../pictures";
import { Approval } from "./Approval";

const TICK_MS = 100;
// Less would be shown as no time at all.
const SHOWN_S = 0.05;

type State = "writing" | "waiting" | "running" | "interrupted" | "done" | "failed" | "denied" | "canceled";
const WORDS: Record<State, string> = {
  writing: "writing its input",
  waiting: "needs approval",
  running: "running",
  interrupted: "interrupted",
  done: "done",
  failed: "failed",
  denied: "denied",
  canceled: "canceled",
};
// The gateway's words for a call whose stream broke off. The turn may go on, and the call with it.
const NO_RESULT = "No result";
// What a call that nothing was wrong with ends with: its agent's words, and the gateway's.
const UNDONE: Record<string, State> = { Denied: "denied", Canceled: "canceled" };

export function Tool(props: ToolCallMessagePartProps) {
  const { toolName, toolCallId, args, argsText, result, isError, approval } = props;
  const over = result !== undefined;
  const asks = !over && approval !== undefined && approval.approved === undefined;
  const { recovering } = useView(useConversationHere());
  const state: State = over ? stateOf(props, recovering) : asks ? "waiting" : isWhole(argsText) ? "running" : "writing";
  const seconds = useSeconds(state === "running");
  const [pictures, output] = useMemo(() => picturesOf(result), [result]);
  return (
    <section className="tool" data-tool={toolName} data-tool-state={state} data-call={toolCallId}>
      <details>
        <summary>
          <Icon name="tool" />
          <span className="name">{toolName}</span>
          <span className="hint">{oneLine(args)}</span>
          <span className="state">
            {WORDS[state]}
            {seconds !== null && seconds >= SHOWN_S && state !== "waiting" && state !== "writing" ? ` · ${seconds.toFixed(1)} s` : ""}
          </span>
          <Icon name="chevron" />
        </summary>
        <dl>
          <dt>Input</dt>
          <dd>
            {state === "writing" ? (
              <Text of={`Input of ${toolName}`} text={argsText} />
            ) : (
              <Text of={`Input of ${toolName}`} text={JSON.stringify(args ?? null, null, 2)} />
            )}
          </dd>
          {over && (
            <>
              <dt>{state === "failed" ? "Failure" : isError ? "Outcome" : "Output"}</dt>
              <dd>
                {isError ? (
                  <p className={state === "failed" ? "failure" : "undone"}>{failureOf(result)}</p>
                ) : (
                  <Text of={`Output of ${toolName}`} text={output} />
                )}
              </dd>
            </>
          )}
        </dl>
      </details>
      {over && !isError && pictures.length > 0 && (
        <div className="pictures">
          {pictures.map(({ url, name }, place) => (
            <img key={place} className="picture" src={url} alt={name} />
          ))}
        </div>
      )}
      {state === "failed" && <p className="failure short">{failureOf(result)}</p>}
      {approval !== undefined && !over && <Approval {...props} approval={approval} />}
    </section>
  );
}

function Text({ of, text }: { of: string; text: string }) {
  return (
    <pre tabIndex={0} role="group" aria-label={of}>
      {text}
    </pre>
  );
}

/** How long it runs, as far as this page saw it; null if it was over before. */
function useSeconds(running: boolean): number | null {
  const began = useRef<number | null>(null);
  const [seconds, setSeconds] = useState<number | null>(null);
  useEffect(() => {
    if (!running) return;
    began.current ??= performance.now();
    const measure = () => setSeconds((performance.now() - (began.current ?? 0)) / 1000);
    measure();
    const timer = setInterval(measure, TICK_MS);
    return () => {
      measure();
      clearInterval(timer);
    };
  }, [running]);
  return seconds;
}

function oneLine(args: unknown): string {
  if (typeof args !== "object" || args === null) return "";
  return Object.values(args)
    .map((value) => (typeof value === "string" ? value : JSON.stringify(value)))
    .join(", ");
}

/** Whether the model has written all of it: until then its last brackets are missing. */
function isWhole(argsText: string): boolean {
  try {
    JSON.parse(argsText);
    return true;
  } catch {
    return false;
  }
}

function stateOf({ result, isError, approval }: ToolCallMessagePartProps, recovering: boolean): State {
  // Some agents report what a denial came to as a result like any other.
  if (approval?.approved === false) return "denied";
  if (!isError) return "done";
  const failure = failureOf(result);
  if (recovering && failure === NO_RESULT) return "interrupted";
  return UNDONE[failure] ?? "failed";
}

function failureOf(result: unknown): string {
  const told = (result as { error?: unknown } | null)?.error;
  return typeof told === "string" ? told : JSON.stringify(result);
}
