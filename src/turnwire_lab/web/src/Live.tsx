// What a screen reader is told: not every word as it comes, but that a prompt went out, what the
// answer was when it is whole, and what is asked.
import type { UIMessage } from "ai";

import { useView } from "./App";
import { asksAnything } from "./asking";
import type { Conversation } from "./conversation";
import { plain } from "./plain";
import type { View } from "./view";

export function Live({ conversation }: { conversation: Conversation }) {
  const view = useView(conversation);
  const { notice } = view;
  const { messages, lastMessage } = conversation.chat;
  return (
    <>
      <p className="unseen" aria-live="polite" data-live="">
        {asksAnything(lastMessage) ? "The agent asks you something." : said(view, messages)}
      </p>
      <p className="unseen" role="alert">
        {notice === null ? "" : `${notice.title}. ${notice.text}`}
      </p>
    </>
  );
}

function said({ progress, ended }: View, messages: UIMessage[]): string {
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
