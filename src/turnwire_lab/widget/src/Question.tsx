import { useEffect, useRef, useState } from "preact/hooks";

import type { Conversation } from "./conversation";
import { toLog } from "./focus";

export interface Asked {
  questionId: string;
  text: string;
  options?: string[];
  kind?: string;
  callId?: string;
  /** What the answer to an approval goes with. */
  approvalId?: string;
  state: "open" | "resolved" | "expired";
  answer?: unknown;
}

const APPROVE = "Approve";
const DENY = "Deny";

export function Question({ asked, conversation }: { asked: Asked; conversation: Conversation }) {
  const [sent, setSent] = useState<string | null>(null);
  const { loading } = conversation;
  // What is read anew says whether it is open still.
  useEffect(() => {
    if (loading) setSent(null);
  }, [loading]);
  // One that brings its own words is answered with them.
  const approval = asked.kind === "approval" && asked.options === undefined;
  const answer = async (chosen: string) => {
    setSent(chosen);
    const said = approval ? chosen === APPROVE : chosen;
    if (!(await conversation.answer(asked.questionId, said, asked.approvalId))) setSent(null);
  };
  return (
    <section class="card question" aria-label="Question" data-question={asked.state}>
      <p>{asked.text}</p>
      {asked.state === "open" ? (
        <Choices options={asked.options ?? (approval ? [APPROVE, DENY] : [])} sent={sent} answer={(chosen) => void answer(chosen)} />
      ) : (
        <p class="outcome">{asked.state === "expired" ? "Not answered" : told(asked.answer ?? sent)}</p>
      )}
    </section>
  );
}

interface ChoicesProps {
  options: string[];
  sent: string | null;
  answer: (chosen: string) => void;
}

function Choices({ options, sent, answer }: ChoicesProps) {
  const input = useRef<HTMLInputElement>(null);
  if (options.length > 0) {
    return (
      <div class="buttons">
        {options.map((option) => (
          <button
            key={option}
            type="button"
            disabled={sent !== null}
            onClick={(event) => {
              toLog(event);
              answer(option);
            }}
          >
            {option}
          </button>
        ))}
      </div>
    );
  }
  return (
    <form
      class="buttons"
      onSubmit={(event) => {
        event.preventDefault();
        const typed = input.current?.value.trim();
        if (!typed) return;
        toLog(event);
        answer(typed);
      }}
    >
      <input ref={input} aria-label="Your answer" disabled={sent !== null} />
      <button type="submit" disabled={sent !== null}>
        Answer
      </button>
    </form>
  );
}

function told(answer: unknown): string {
  if (typeof answer === "string") return answer;
  if (typeof answer === "boolean") return answer ? "Approved" : "Denied";
  return answer == null ? "Answered" : JSON.stringify(answer);
}
