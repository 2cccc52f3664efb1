import type { ToolCallMessagePartProps } from "@assistant-ui/react";
import { useEffect, useState } from "react";

import { useView } from "../App";
import { useConversationHere } from "../context";

type Props = ToolCallMessagePartProps & { approval: NonNullable<ToolCallMessagePartProps["approval"]> };

export function Approval({ approval, toolName, respondToApproval }: Props) {
  const [answered, setAnswered] = useState<boolean | null>(null);
  const decided = approval.approved ?? answered;
  // A stream that is read anew would undo an answer that is given meanwhile.
  const conversation = useConversationHere();
  const { looking, recovering } = useView(conversation);
  const isOff = looking || conversation.busy || decided !== null;
  // What is read anew says whether it is open still.
  useEffect(() => {
    if (recovering) setAnswered(null);
  }, [recovering]);
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
