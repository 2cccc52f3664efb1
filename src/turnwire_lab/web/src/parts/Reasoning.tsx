import type { ReasoningMessagePartProps } from "@assistant-ui/react";

import { Icon } from "../Icon";

export function Reasoning({ text, status }: ReasoningMessagePartProps) {
  const running = status.type === "running";
  return (
    <details className="reasoning" data-running={running}>
      <summary>
        <Icon name="chevron" />
        {running ? "Thinking…" : "Thought"}
      </summary>
      <p>{text}</p>
    </details>
  );
}
