import { type DataMessagePartProps, useAuiState } from "@assistant-ui/react";
import { useEffect, useState } from "react";

import { useView } from "../App";
import { useConversationHere } from "../context";
import { focusBox } from "../focus";
import { Icon } from "../Icon";

interface Asked {
  questionId: string;
  text: string;
  options?: string[];
  state: "open" | "resolved" | "expired";
  answer?: unknown;
  /** An approval is of a tool's call. */
  kind?: string;
  callId?: string;
  /** What its answer goes with. */
  approvalId?: string;
}

export function Question({ data }: DataMessagePartProps<Asked>) {
  const conversation = useConversationHere();
  const [sending, setSending] = useState<unknown>(null);
  const [text, setText] = useState("");
  const { recovering } = useView(conversation);
  // What is read anew says whether it is open still.
  useEffect(() => {
    if (recovering) setSending(null);
  }, [recovering]);
  const open = data.state === "open";
  // What became of an approval stands on the tool's card; only the history has this beside it.
  const onCard = useAuiState(({ message }) =>
    message.parts.some((part) => part.type === "tool-call" && part.toolCallId === data.callId),
  );
  const answer = async (chosen: unknown) => {
    setSending(chosen);
    if (await conversation.answer(data.questionId, chosen, data.approvalId)) focusBox();
    else setSending(null);
  };
  if (data.kind === "approval" && !open && onCard) return null;
  return (
    <section className="ask question" aria-label="Question" data-question={data.state}>
      <p>{data.text}</p>
      {!open && (
        <p className="outcome">
          {data.state === "expired" ? "Not answered" : <Answered answer={data.answer ?? sending} />}
        </p>
      )}
      {open && data.options !== undefined && data.options.length > 0 && (
        <div className="buttons">
          {data.options.map((option: string) => (
            <button key={option} type="button" disabled={sending !== null} onClick={() => void answer(option)}>
              {option}
            </button>
          ))}
        </div>
      )}
      {open && (data.options === undefined || data.options.length === 0) && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (text.trim()) void answer(text.trim());
          }}
        >
          <input
            type="text"
            aria-label="Your answer"
            value={text}
            disabled={sending !== null}
            onChange={(event) => setText(event.target.value)}
          />
          <button type="submit" disabled={sending !== null || !text.trim()}>
            Answer
          </button>
        </form>
      )}
    </section>
  );
}

function Answered({ answer }: { answer: unknown }) {
  return (
    <>
      <Icon name="check" /> {typeof answer === "string" ? answer : JSON.stringify(answer ?? "answered")}
    </>
  );
}
