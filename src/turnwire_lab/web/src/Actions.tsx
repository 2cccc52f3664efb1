// What may be done with an answer: copy it, also while it is written, and ask for it again.
import { ActionBarPrimitive, useAuiState } from "@assistant-ui/react";
import { useEffect, useState } from "react";

import { useView } from "./App";
import { useConversationHere } from "./context";
import { Icon } from "./Icon";
import { useEnded } from "./Message";
import { concernsAnswer } from "./notice";

const COPIED_MS = 2000;

export function Actions() {
  const conversation = useConversationHere();
  const view = useView(conversation);
  const ended = useEnded();
  const isRunning = useAuiState((state) => state.thread.isRunning);
  const isLast = useAuiState((state) => state.message.isLast);
  // Where the notice offers it, once is enough.
  const isOffered = concernsAnswer(view.notice, conversation.chat.lastMessage);
  return (
    <div className="actions" data-last={isLast}>
      <Copy />
      {isLast && !isRunning && !view.recovering && !isOffered && (
        <ActionBarPrimitive.Reload className="quiet small" aria-label="Answer again" title="Answer again">
          <Icon name="redo" />
          {ended !== undefined && <span>Answer again</span>}
        </ActionBarPrimitive.Reload>
      )}
    </div>
  );
}

/** What is there of the answer, though more may come. */
function Copy() {
  const id = useAuiState((state) => state.message.id);
  const { chat } = useConversationHere();
  const hasText = useAuiState((state) => state.message.parts.some((part) => part.type === "text"));
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), COPIED_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  if (!hasText) return null;
  const copy = () => {
    const parts = chat.messages.find((message) => message.id === id)?.parts ?? [];
    const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
    navigator.clipboard.writeText(texts.join("\n\n")).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  };
  return (
    <>
      <button type="button" className="quiet small" aria-label="Copy the answer" title="Copy" onClick={copy}>
        <Icon name={isCopied ? "check" : "copy"} />
      </button>
      <span className="unseen" aria-live="polite">
        {isCopied && "Copied."}
      </span>
    </>
  );
}
