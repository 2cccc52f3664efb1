import { MessagePrimitive, type ThreadMessage, useAuiState } from "@assistant-ui/react";

import { Actions } from "./Actions";
import { useMarks, useSurvived, useView } from "./App";
import { useConversationHere } from "./context";
import { Icon } from "./Icon";
import { concernsAnswer, STOPPED } from "./notice";
import { Data } from "./parts/Data";
import { FilePart, ImagePart, SourcePart } from "./parts/Files";
import { Question } from "./parts/Question";
import { Reasoning } from "./parts/Reasoning";
import { Text } from "./parts/Text";
import { Tool } from "./parts/Tool";
import { UserFile } from "./parts/UserFile";

type MessagePart = ThreadMessage["content"][number];

export function UserMessage() {
  return (
    <MessagePrimitive.Root asChild>
      <article className="message user" data-role="user" aria-label="You">
        <MessagePrimitive.Attachments components={{ Attachment: UserFile }} />
        <div className="bubble">
          <MessagePrimitive.Parts components={{ Text: Plain }} />
        </div>
        <Ended what="prompt" />
      </article>
    </MessagePrimitive.Root>
  );
}

export function AssistantMessage() {
  const asks = useAuiState((state) => state.message.parts.some(isOpen));
  return (
    <MessagePrimitive.Root asChild>
      <article className="message assistant" data-role="assistant" aria-label="Answer">
        <MessagePrimitive.Parts
          components={{
            Text,
            Reasoning,
            Source: SourcePart,
            Image: ImagePart,
            File: FilePart,
            tools: { Fallback: Tool },
            data: { by_name: { question: Question }, Fallback: Data },
          }}
        />
        <WentOn />
        <Ended what="answer" />
        {!asks && <Actions />}
      </article>
    </MessagePrimitive.Root>
  );
}

function Ended({ what }: { what: "prompt" | "answer" }) {
  const words = useEnded();
  const conversation = useConversationHere();
  const isLast = useAuiState((state) => state.message.isLast);
  // While the notice below has it, once is enough.
  const isShown = concernsAnswer(useView(conversation).notice, conversation.chat.lastMessage) && isLast;
  if (words === undefined || isShown) return null;
  return (
    <p className={words === STOPPED ? "ended" : "ended failed"}>
      This {what} {words}
    </p>
  );
}

/** That a break did no harm. */
function WentOn() {
  const survived = useSurvived(useConversationHere());
  const words = survived.get(useAuiState((state) => state.message.id));
  const ended = useEnded();
  if (words === undefined || ended !== undefined) return null;
  return (
    <p className="survived" role="status">
      <Icon name="check" /> {words}
    </p>
  );
}

export function useEnded(): string | undefined {
  const ended = useMarks(useConversationHere());
  return ended.get(useAuiState((state) => state.message.id));
}

/** Whether it waits for the user: until then there is no whole answer to copy or to make again. */
function isOpen(part: MessagePart): boolean {
  if (part.type === "tool-call") {
    return part.result === undefined && part.approval !== undefined && part.approval.approved === undefined;
  }
  return part.type === "data" && part.name === "question" && (part.data as { state?: unknown }).state === "open";
}

function Plain({ text }: { text: string }) {
  return <p className="plain-text">{text}</p>;
}
