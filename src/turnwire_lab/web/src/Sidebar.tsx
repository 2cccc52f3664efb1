import { useState } from "react";

import { Entry } from "./Entry";
import { Icon } from "./Icon";
import type { SessionEntry } from "./sessions";

interface Props {
  agentName: string;
  wire: string;
  sessions: SessionEntry[];
  current: string;
  onChoose: (id: string) => void;
  onNew: () => void;
  onRename: (id: string, title: string) => void;
  onDelete: (id: string) => void;
}

export function Sidebar({ agentName, wire, sessions, current, onChoose, onNew, onRename, onDelete }: Props) {
  const [words, setWords] = useState("");
  const wanted = words.trim().toLowerCase();
  const found = sessions.filter(({ id, title }) => `${title} ${id}`.toLowerCase().includes(wanted));
  const isKeptByAgent = wire === "v2" || wire === "session-agent";
  return (
    <nav id="sessions" className="sidebar" aria-label="Sessions">
      <button type="button" className="new" onClick={onNew}>
        <Icon name="plus" />
        New chat
      </button>
      <input
        type="search"
        className="search"
        placeholder="search chats…"
        aria-label="Search chats"
        value={words}
        onChange={(event) => setWords(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape" || words === "") return;
          event.preventDefault();
          setWords("");
        }}
      />
      <p className="unseen" role="status">
        {wanted !== "" && (found.length === 1 ? "1 chat found" : `${found.length} chats found`)}
      </p>
      {found.length === 0 && <p className="about">No chat has these words in its name.</p>}
      <ul>
        {found.map((entry) => (
          <Entry
            key={entry.id}
            entry={entry}
            isCurrent={entry.id === current}
            isKeptByAgent={isKeptByAgent}
            onChoose={onChoose}
            onRename={onRename}
            onDelete={onDelete}
          />
        ))}
      </ul>
      <p className="about">
        {agentName === ""
          ? "A small agent without a model, behind a real gateway. Its tools really run; nothing leaves this machine."
          : `An agent of ${agentName}, behind a real gateway. What was said is kept ${wire === "v2" ? "by the agent, in its journal" : "in this browser"}.`}
      </p>
    </nav>
  );
}
