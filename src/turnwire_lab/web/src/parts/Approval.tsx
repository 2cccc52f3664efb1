import type { ToolCallMessagePartProps } from "@assistant-ui/react";
import { useState } from "react";

import { useView } from "../App";
import { useConversationHere } from "../context";

type Props = ToolCallMessagePartProps & { approval: NonNullable<ToolCallMessagePartProps["approval"]> };

export function Approval({ approval, toolName, respondToApproval }: Props) {
  const [answered, setAnswered] = useState<boolean | null>(null);
  const decided = approval.approved ?? answered;
  // A stream that is read anew would undo an answer that is given meanwhile.
  const conversation = useConversationHere();
  const isOff = useView(conversation).looking || conversation.busy || decided !== null;
  const respond = (approved: boolean) => {
    setAnswered(approved);
    respondToApproval({ approved }).catch(() => setAnswered(null));
  };
  return (
    <div className="ask" role="group" aria-label={`Approval of ${toolName}`} data-approval={decided ?? "open"}>
      <p>{approval.prompt ?? `May ${toolName} run with this input?`}</p>
      <div className="buttons">
        <button type="button" disabled={isOff} onClick={() => respond(true)}>
          Approve
        </button>
        <button type="button" className="plain" disabled={isOff} onClick={() => respond(false)}>
          Deny
        </button>
      </div>
    </div>
  );
}
