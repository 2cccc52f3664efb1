// What an agent sends beside its words: its plan, its state, and parts of its own making.
import type { DataMessagePartProps } from "@assistant-ui/react";

import { Icon } from "../Icon";

interface Step {
  content: string;
  status?: string;
}

const STATES: Record<string, string> = { pending: "to do", in_progress: "under way", completed: "done" };
const TITLES: Record<string, string> = { state: "The agent's state", activity: "What the agent does", result: "Result" };

export function Data({ name, data }: DataMessagePartProps<unknown>) {
  const steps = name === "plan" ? stepsOf(data) : null;
  if (steps !== null) return <Plan steps={steps} />;
  const title = TITLES[name] ?? name;
  return (
    <details className="data" data-name={name}>
      <summary>
        <Icon name="chevron" />
        {title}
      </summary>
      <pre tabIndex={0} role="group" aria-label={title}>
        {JSON.stringify(data ?? null, null, 2)}
      </pre>
    </details>
  );
}

function Plan({ steps }: { steps: Step[] }) {
  return (
    <section className="data plan" data-name="plan" aria-label="Plan">
      <p className="title">Plan</p>
      <ol>
        {steps.map(({ content, status = "pending" }, place) => (
          <li key={place} data-step={status}>
            <span>{content}</span> <small>{STATES[status] ?? status}</small>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** The steps of a plan as the agent client protocol has them; null for anything else. */
function stepsOf(data: unknown): Step[] | null {
  const entries = (data as { entries?: unknown } | null)?.entries;
  if (!Array.isArray(entries) || entries.length === 0) return null;
  return entries.every((each) => typeof (each as Step | null)?.content === "string") ? (entries as Step[]) : null;
}
