import { ActionBarPrimitive, MessagePrimitive, type ThreadMessage, useAuiState } from "@assistant-ui/react";

import { useMarks } from "./App";
import { useConversationHere } from "./context";
import { Icon } from "./Icon";
import { STOPPED } from "./notice";
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
  const ended = useEnded();
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
            data: { by_name: { question: Question } },
          }}
        />
        <Ended what="answer" />
        {!asks && (
          <ActionBarPrimitive.Root className="actions" hideWhenRunning>
            <ActionBarPrimitive.Copy className="quiet small" aria-label="Copy the answer" title="Copy">
              <Icon name="copy" />
            </ActionBarPrimitive.Copy>
            <MessagePrimitive.If last>
              <ActionBarPrimitive.Reload className="quiet small" aria-label="Answer again" title="Answer again">
                <Icon name="redo" />
                {ended !== undefined && <span>Answer again</span>}
              </ActionBarPrimitive.Reload>
            </MessagePrimitive.If>
          </ActionBarPrimitive.Root>
        )}
      </article>
    </MessagePrimitive.Root>
  );
}

function Ended({ what }: { what: "prompt" | "answer" }) {
  const words = useEnded();
  if (words === undefined) return null;
  return (
    <p className={words === STOPPED ? "ended" : "ended failed"}>
      This {what} {words}
    </p>
  );
}

function useEnded(): string | undefined {
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
