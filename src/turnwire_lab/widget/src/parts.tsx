import { getToolName, isToolUIPart, type UIMessage } from "ai";
import { useRef, useState } from "preact/hooks";

import type { Conversation } from "./conversation";
import { Markdown } from "./Markdown";
import { finishOf } from "./transport";

type Part = UIMessage["parts"][number];

interface Asked {
  questionId: string;
  text: string;
  options?: string[];
  kind?: string;
  state: "open" | "resolved" | "expired";
  answer?: unknown;
}

export function Message({ message, conversation }: { message: UIMessage; conversation: Conversation }) {
  const mine = message.role === "user";
  const finish = finishOf(message);
  return (
    <article data-role={message.role} aria-label={mine ? "You" : "Answer"}>
      {message.parts.map((part, at) =>
        mine ? part.type === "text" && <p class="said">{part.text}</p> : (
          <Shown key={keyOf(part, at)} part={part} conversation={conversation} />
        ),
      )}
      {finish !== undefined && (
        <p class={finish.errorText === undefined ? "ended" : "ended failure"}>
          This answer {finish.errorText === undefined ? "was stopped" : `failed: ${finish.errorText}`}
        </p>
      )}
    </article>
  );
}

function keyOf(part: Part, at: number): string {
  if (isToolUIPart(part)) return part.toolCallId;
  return "id" in part && typeof part.id === "string" ? `${part.type}-${part.id}` : `${part.type}-${at}`;
}

function Shown({ part, conversation }: { part: Part; conversation: Conversation }) {
  if (part.type === "text") return <Markdown text={part.text} />;
  if (part.type === "reasoning") return <Reasoning text={part.text} />;
  if (isToolUIPart(part)) return <Tool part={part} />;
  if (part.type === "data-question") return <Question asked={part.data as Asked} conversation={conversation} />;
  if (part.type === "file") return <Source url={part.url} title={part.filename ?? part.mediaType} />;
  if (part.type === "source-url") return <Source url={part.url} title={part.title ?? part.url} />;
  return null;
}

function Reasoning({ text }: { text: string }) {
  return (
    <details class="reasoning">
      <summary>Reasoning</summary>
      <p>{text}</p>
    </details>
  );
}

function Source({ url, title }: { url: string; title: string }) {
  return /^https?:/i.test(url) ? (
    <p>
      <a href={url} target="_blank" rel="noopener noreferrer">
        {title}
      </a>
    </p>
  ) : (
    <p>{title}</p>
  );
}

type ToolPart = Extract<Part, { toolCallId: string }>;

function Tool({ part }: { part: ToolPart }) {
  const name = getToolName(part);
  const state = part.state === "output-available" ? "done" : part.state === "output-error" ? "failed" : "running";
  return (
    <details class="card tool" data-tool={name} data-tool-state={state}>
      <summary>
        <span class="name">{name}</span> <span class="state">{state}</span>
      </summary>
      <Json name={`Input of ${name}`} value={part.input} />
      {part.state === "output-available" && <Json name={`Output of ${name}`} value={part.output} />}
      {part.state === "output-error" && <p class="failure">{part.errorText}</p>}
    </details>
  );
}

function Json({ name, value }: { name: string; value: unknown }) {
  return (
    <pre tabIndex={0} role="group" aria-label={name}>
      {JSON.stringify(value ?? null, null, 2)}
    </pre>
  );
}

const APPROVE = "Approve";
const DENY = "Deny";

function Question({ asked, conversation }: { asked: Asked; conversation: Conversation }) {
  const [sent, setSent] = useState<string | null>(null);
  // One that brings its own words is answered with them.
  const approval = asked.kind === "approval" && asked.options === undefined;
  const answer = async (chosen: string) => {
    setSent(chosen);
    if (!(await conversation.answer(asked.questionId, approval ? chosen === APPROVE : chosen))) setSent(null);
  };
  return (
    <section class="card question" aria-label="Question" data-question={asked.state}>
      <p>{asked.text}</p>
      {asked.state === "open" ? (
        <Choices options={asked.options ?? (approval ? [APPROVE, DENY] : [])} sent={sent} answer={(chosen) => void answer(chosen)} />
      ) : (
        <p class="outcome">{asked.state === "expired" ? "Not answered in time" : told(asked.answer ?? sent)}</p>
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
          <button key={option} type="button" disabled={sent !== null} onClick={() => answer(option)}>
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
        if (typed) answer(typed);
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
