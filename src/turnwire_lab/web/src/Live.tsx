// What a screen reader is told: not every word as it comes, but that a prompt went out, what the
// answer was when it is whole, and what is asked.
import type { UIMessage } from "ai";
import { asksAnything, type Progress } from "turnwire-session";

import { useMarks, useView } from "./App";
import type { Conversation } from "./conversation";
import { shownOf } from "./notice";
import { plain } from "./plain";

export function Live({ conversation }: { conversation: Conversation }) {
  const view = useView(conversation);
  const ended = useMarks(conversation);
  const notice = shownOf(view);
  const { messages, lastMessage } = conversation.chat;
  return (
    <>
      <p className="unseen" aria-live="polite" data-live="">
        {asksAnything(lastMessage) ? "The agent asks you something." : said(view.progress, ended, messages)}
      </p>
      <p className="unseen" role="alert">
        {notice === null ? "" : `${notice.title}. ${notice.text}`}
      </p>
    </>
  );
}

function said(progress: Progress, ended: ReadonlyMap<string, string>, messages: UIMessage[]): string {
  if (progress === null) return "";
  if (progress === "sent") return "Sent. The agent is working.";
  if (progress === "failed") return "The turn failed.";
  const answer = messages.find((message) => message.id === progress.over);
  if (answer === undefined) return "";
  const end = ended.get(answer.id);
  return `${end === undefined ? "The agent answered" : `This answer ${end}`}: ${textOf(answer)}`;
}

function textOf(message: UIMessage): string {
  return message.parts.map((part) => (part.type === "text" ? plain(part.text) : "")).join(" ");
}
