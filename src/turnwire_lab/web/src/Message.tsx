import { ActionBarPrimitive, MessagePrimitive } from "@assistant-ui/react";

import { Icon } from "./Icon";
import { FilePart, ImagePart, SourcePart } from "./parts/Files";
import { Question } from "./parts/Question";
import { Reasoning } from "./parts/Reasoning";
import { Text } from "./parts/Text";
import { Tool } from "./parts/Tool";
import { UserFile } from "./parts/UserFile";

export function UserMessage() {
  return (
    <MessagePrimitive.Root className="message user" data-role="user">
      <MessagePrimitive.Attachments components={{ Attachment: UserFile }} />
      <div className="bubble">
        <MessagePrimitive.Parts components={{ Text: Plain }} />
      </div>
    </MessagePrimitive.Root>
  );
}

export function AssistantMessage() {
  return (
    <MessagePrimitive.Root className="message assistant" data-role="assistant">
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
      <ActionBarPrimitive.Root className="actions" hideWhenRunning>
        <ActionBarPrimitive.Copy className="quiet small" aria-label="Copy the answer" title="Copy">
          <Icon name="copy" />
        </ActionBarPrimitive.Copy>
        <MessagePrimitive.If last>
          <ActionBarPrimitive.Reload className="quiet small" aria-label="Answer again" title="Answer again">
            <Icon name="redo" />
          </ActionBarPrimitive.Reload>
        </MessagePrimitive.If>
      </ActionBarPrimitive.Root>
    </MessagePrimitive.Root>
  );
}

function Plain({ text }: { text: string }) {
  return <p className="plain-text">{text}</p>;
}
