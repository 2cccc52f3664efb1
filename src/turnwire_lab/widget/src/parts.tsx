import { isToolUIPart, type UIMessage } from "ai";
import { finishOf } from "turnwire-session";

import type { Conversation } from "./conversation";
import { Away, FilePart } from "./FilePart";
import { toLog } from "./focus";
import { Markdown } from "./Markdown";
import { Question, type Asked } from "./Question";
import { Tool } from "./Tool";

type Part = UIMessage["parts"][number];

interface Props {
  message: UIMessage;
  /** Whether it can be asked for again here, if it did not end well. */
  again: boolean;
  conversation: Conversation;
}

export function Message({ message, again, conversation }: Props) {
  const mine = message.role === "user";
  const finish = finishOf(message);
  return (
    <article data-role={message.role} aria-label={mine ? "You" : "Answer"}>
      {message.parts.map((part, at) =>
        mine && part.type === "text" ? (
          <p class="said">{part.text}</p>
        ) : (
          <Shown key={keyOf(part, at)} part={part} message={message} conversation={conversation} />
        ),
      )}
      {finish !== undefined && (
        <p class={finish.errorText === undefined ? "ended" : "ended failure"}>
          This answer {finish.errorText === undefined ? "was stopped" : `failed: ${finish.errorText}`}
        </p>
      )}
      {again && finish !== undefined && (
        <div class="buttons">
          <button
            type="button"
            onClick={(event) => {
              toLog(event);
              conversation.take("retry");
            }}
          >
            Try again
          </button>
        </div>
      )}
    </article>
  );
}

function keyOf(part: Part, at: number): string {
  if (isToolUIPart(part)) return part.toolCallId;
  return "id" in part && typeof part.id === "string" ? `${part.type}-${part.id}` : `${part.type}-${at}`;
}

function Shown({ part, message, conversation }: Omit<Props, "again"> & { part: Part }) {
  if (part.type === "text") return <Markdown text={part.text} />;
  if (part.type === "reasoning") return <Reasoning text={part.text} />;
  if (isToolUIPart(part)) return <Tool part={part} message={message} />;
  if (part.type === "data-question") return <Question asked={part.data as Asked} conversation={conversation} />;
  if (part.type === "file") return <FilePart {...part} />;
  if (part.type === "source-url") {
    return (
      <p>
        <Away url={part.url}>{part.title ?? part.url}</Away>
      </p>
    );
  }
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
