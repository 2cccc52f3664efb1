import { Icon } from "./Icon";
import type { SessionEntry } from "./sessions";

interface Props {
  agentName: string;
  wire: string;
  sessions: SessionEntry[];
  current: string;
  onChoose: (id: string) => void;
  onNew: () => void;
}

export function Sidebar({ agentName, wire, sessions, current, onChoose, onNew }: Props) {
  return (
    <nav id="sessions" className="sidebar" aria-label="Sessions">
      <button type="button" className="new" onClick={onNew}>
        <Icon name="plus" />
        New chat
      </button>
      <ul>
        {sessions.map((entry) => (
          <li key={entry.id}>
            <button
              type="button"
              className="session"
              aria-current={entry.id === current ? "true" : undefined}
              onClick={() => onChoose(entry.id)}
            >
              <span className="title">{entry.title}</span>
              <span className="id">{entry.id}</span>
            </button>
          </li>
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
