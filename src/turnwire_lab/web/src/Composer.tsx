import { AttachmentPrimitive, ComposerPrimitive, useAui, useAuiEvent, useAuiState } from "@assistant-ui/react";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { asksAnything } from "turnwire-session";

import { useView } from "./App";
import { filesOf } from "./attachments";
import type { Conversation } from "./conversation";
import { loadDraft, saveDraft } from "./drafts";
import { focusBox } from "./focus";
import { Icon } from "./Icon";
import { Tries, TriesButton } from "./Tries";

interface Props {
  conversation: Conversation;
  busy: boolean;
  prompts: [string, string][];
}

export function Composer({ conversation, busy, prompts }: Props) {
  const { stopping } = useView(conversation);
  const [pressed, setPressed] = useState(false);
  const [tries, setTries] = useState(false);
  const left = useLeftOut();
  // What is asked ends with a stop, whether its stream is open, as with a question, or not, as with an approval.
  const isEmpty = useAuiState((state) => state.composer.isEmpty);
  const stops = busy || (conversation.asking && isEmpty);
  useDraft(conversation.session);
  useRefused(conversation);
  useEffect(() => {
    if (!busy) setPressed(false);
  }, [busy]);

  const hint = busy ? <Wait asked={asksAnything(conversation.chat.lastMessage)} /> : <Keys asked={conversation.asking} />;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing || !busy) return;
    event.preventDefault();
    setPressed(true);
  };
  return (
    <ComposerPrimitive.Root className="composer">
      <div className="attachments">
        <ComposerPrimitive.Attachments components={{ Attachment: Attached }} />
      </div>
      <Tries {...{ conversation, prompts, busy }} isOpen={tries} onClose={() => setTries(false)} />
      <p className="left-out" role="alert">
        {left}
      </p>
      <div className="line">
        <ComposerPrimitive.AddAttachment className="quiet" aria-label="Attach a file" title="Attach a file">
          <Icon name="clip" />
        </ComposerPrimitive.AddAttachment>
        <TriesButton isOpen={tries} onToggle={() => setTries(!tries)} />
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
          onKeyDown={onKeyDown}
        />
        {stops ? (
          <button
            type="button"
            className="act stop"
            aria-label="Stop"
            title="Stop (Esc)"
            disabled={stopping}
            onClick={() => {
              void conversation.stop();
              focusBox();
            }}
          >
            <Icon name="stop" />
          </button>
        ) : (
          <ComposerPrimitive.Send className="act" aria-label="Send" title="Send (Enter)">
            <Icon name="send" />
          </ComposerPrimitive.Send>
        )}
      </div>
      <p id="keys" className="keys" data-pressed={pressed}>
        {hint}
      </p>
      <p className="unseen" aria-live="polite">
        {pressed && hint}
      </p>
    </ComposerPrimitive.Root>
  );
}

function Wait({ asked }: { asked: boolean }) {
  return (
    <>
      {asked ? "Answer the question above" : "Wait for the answer"}, or press <kbd>Esc</kbd> to stop it.
    </>
  );
}

function Keys({ asked }: { asked: boolean }) {
  return (
    <>
      {asked && "Approve or deny above. "}
      <kbd>Enter</kbd> sends{asked && " and stops the turn that asks"}, <kbd>Shift</kbd>+<kbd>Enter</kbd> is a new line,{" "}
      <kbd>Esc</kbd> stops.
    </>
  );
}

/** What is typed stays with its session. */
function useDraft(session: string): void {
  const aui = useAui();
  const text = useAuiState((state) => state.composer.text);
  const put = useRef(false);
  useEffect(() => {
    if (put.current) {
      saveDraft(session, text);
      return;
    }
    put.current = true;
    aui.composer.setText(loadDraft(session));
  }, [aui, session, text]);
}

/** Prompts that were refused are put back, before what was typed since. */
function useRefused(conversation: Conversation): void {
  const aui = useAui();
  const { refused } = useView(conversation);
  useEffect(() => {
    if (refused.length === 0) return;
    const { composer } = aui;
    const texts = refused.map(({ parts }) => parts.map((part) => (part.type === "text" ? part.text : "")).join(""));
    composer.setText([...texts, composer.getState().text].filter(Boolean).join("\n"));
    for (const file of refused.flatMap(filesOf)) void composer.addAttachment(file).catch(() => undefined);
    conversation.tookBack(refused);
  }, [aui, conversation, refused]);
}

/** Why the newest file was left out, until another is taken or the message is sent. */
function useLeftOut(): string {
  const [words, setWords] = useState("");
  useAuiEvent("composer.attachmentAddError", ({ message }) => setWords(message));
  useAuiEvent("composer.attachmentAdd", () => setWords(""));
  useAuiEvent("composer.send", () => setWords(""));
  return words;
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
