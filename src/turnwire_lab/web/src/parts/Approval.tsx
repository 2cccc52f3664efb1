import type { ToolCallMessagePartProps } from "@assistant-ui/react";
import { useState } from "react";

type Props = ToolCallMessagePartProps & { approval: NonNullable<ToolCallMessagePartProps["approval"]> };

export function Approval({ approval, toolName, respondToApproval }: Props) {
  const [answered, setAnswered] = useState<boolean | null>(null);
  const decided = approval.approved ?? answered;
  const respond = (approved: boolean) => {
    setAnswered(approved);
    respondToApproval({ approved }).catch(() => setAnswered(null));
  };
  return (
    <div className="ask" role="group" aria-label={`Approval of ${toolName}`} data-approval={decided ?? "open"}>
      <p>{approval.prompt ?? `May ${toolName} run with this input?`}</p>
      <div className="buttons">
        <button type="button" disabled={decided !== null} onClick={() => respond(true)}>
          Approve
        </button>
        <button type="button" className="plain" disabled={decided !== null} onClick={() => respond(false)}>
          Deny
        </button>
      </div>
    </div>
  );
}
