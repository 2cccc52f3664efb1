// What a screen reader is told: not every word as it comes, but that an answer began, what it was
// when it is whole, and what is asked.
import type { UIMessage } from "ai";
import { useEffect, useRef, useState } from "react";

import { useView } from "./App";
import { asksAnything } from "./asking";
import type { Conversation } from "./conversation";

interface Props {
  conversation: Conversation;
  messages: UIMessage[];
  status: string;
}

export function Live({ conversation, messages, status }: Props) {
  const { ended, notice } = useView(conversation);
  const [said, setSaid] = useState("");
  const before = useRef(status);
  const last = messages.at(-1);
  useEffect(() => {
    if (status === before.current) return;
    if (status === "submitted") setSaid("Sent. The agent is working.");
    // From an error the chat gets ready again too: what stands there then is no answer.
    const answered = status === "ready" && before.current !== "error" && last?.role === "assistant";
    const end = last === undefined ? undefined : ended.get(last.id);
    if (answered) setSaid(`${end === undefined ? "The agent answered" : `This answer ${end}`}: ${textOf(last)}`);
    before.current = status;
  }, [status, last, ended]);
  return (
    <>
      <p className="unseen" aria-live="polite" data-live="">
        {asksAnything(last) ? "The agent asks you something." : said}
      </p>
      <p className="unseen" role="alert">
        {notice === null ? "" : `${notice.title}. ${notice.text}`}
      </p>
    </>
  );
}

function textOf(message: UIMessage): string {
  return message.parts.map((part) => (part.type === "text" ? part.text : "")).join(" ");
}
