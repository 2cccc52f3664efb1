import { AttachmentPrimitive, ComposerPrimitive } from "@assistant-ui/react";

import { useView } from "./App";
import type { Conversation } from "./conversation";
import { Icon } from "./Icon";

export function Composer({ conversation, busy }: { conversation: Conversation; busy: boolean }) {
  const { stopping } = useView(conversation);
  return (
    <ComposerPrimitive.Root className="composer">
      <div className="attachments">
        <ComposerPrimitive.Attachments components={{ Attachment: Attached }} />
      </div>
      <div className="line">
        <ComposerPrimitive.AddAttachment className="quiet" aria-label="Attach a file" title="Attach a file">
          <Icon name="clip" />
        </ComposerPrimitive.AddAttachment>
        <ComposerPrimitive.Input
          id="composer"
          className="input"
          placeholder="Ask the agent…"
          aria-label="Message"
          aria-describedby="keys"
          rows={1}
          maxRows={8}
          autoFocus
          cancelOnEscape={false}
        />
        {busy ? (
          <button
            type="button"
            className="act stop"
            aria-label="Stop"
            title="Stop (Esc)"
            disabled={stopping}
            onClick={() => void conversation.stop()}
          >
            <Icon name="stop" />
          </button>
        ) : (
          <ComposerPrimitive.Send className="act" aria-label="Send" title="Send (Enter)">
            <Icon name="send" />
          </ComposerPrimitive.Send>
        )}
      </div>
      <p id="keys" className="keys">
        <kbd>Enter</kbd> sends, <kbd>Shift</kbd>+<kbd>Enter</kbd> is a new line, <kbd>Esc</kbd> stops.
      </p>
    </ComposerPrimitive.Root>
  );
}

function Attached() {
  return (
    <AttachmentPrimitive.Root className="attached">
      <Icon name="file" />
      <AttachmentPrimitive.Name />
      <AttachmentPrimitive.Remove className="quiet small" aria-label="Remove the file">
        <Icon name="close" />
      </AttachmentPrimitive.Remove>
    </AttachmentPrimitive.Root>
  );
}
