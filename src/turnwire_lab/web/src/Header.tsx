import { useChat } from "@ai-sdk/react";
import { type AgentStatus, asksApproval } from "turnwire-session";

import { useView } from "./App";
import { type Conversation, REDRAW_MS } from "./conversation";
import { Icon } from "./Icon";
import { useTheme } from "./theme";

const WORDS: Record<string, string> = {
  idle: "Idle",
  connecting: "Connecting",
  waiting: "Waiting for the answer",
  reconnecting: "Reconnecting",
  queued: "Waiting in the queue",
  thinking: "Thinking",
  streaming: "Answering",
  asking: "Waiting for you",
  tool_calling: "Using a tool",
  step_started: "Working",
  step_finished: "Working",
  subagent_started: "Working",
  subagent_finished: "Working",
  subagent_error: "Working",
  error: "Failed",
};
// Those whose detail is a name: of a tool, of a step, of an agent.
const NAMED = new Set(["tool_calling", "step_started", "subagent_started"]);

interface Props {
  agentName: string;
  conversation: Conversation;
  sidebar: boolean;
  wire: boolean;
  onSidebar: () => void;
  onWire: () => void;
}

export function Header({ agentName, conversation, sidebar, wire, onSidebar, onWire }: Props) {
  const agent = useAgent(conversation);
  const [theme, nextTheme] = useTheme();
  const words = WORDS[agent.status] ?? agent.status;
  return (
    <header className="header">
      <button
        type="button"
        className="quiet only-narrow"
        aria-label="Sessions"
        aria-expanded={sidebar}
        aria-controls="sessions"
        onClick={onSidebar}
      >
        <Icon name="menu" />
      </button>
      <h1 className="brand">
        turnwire <span>{agentName === "" ? "demo" : `before ${agentName}`}</span>
      </h1>
      <p
        className="status"
        data-agent-status={agent.status}
        aria-label={`The agent: ${words}`}
        role="status"
      >
        <span className="dot" aria-hidden="true" />
        <span className="words">
          {words}
          {NAMED.has(agent.status) && agent.detail ? `: ${agent.detail}` : ""}
        </span>
      </p>
      <button type="button" className="quiet" aria-label={`Theme: ${theme}`} title={`Theme: ${theme}`} onClick={nextTheme}>
        <Icon name={theme === "light" ? "sun" : theme === "dark" ? "moon" : "auto"} />
      </button>
      <button type="button" className="quiet labelled" aria-label="Wire" aria-pressed={wire} onClick={onWire}>
        <Icon name="wire" />
        <span>Wire</span>
      </button>
    </header>
  );
}

/** What the agent is doing. Its own word counts, unless what stands there says otherwise: one that
 * answers is not idle, though nobody said so since the stream began. */
function useAgent(conversation: Conversation): AgentStatus {
  const { agent, recovering } = useView(conversation);
  const { messages, status } = useChat({ chat: conversation.chat, throttle: REDRAW_MS });
  if (recovering) return { status: "reconnecting" };
  if (status === "submitted" && agent.status === "idle") return { status: "connecting" };
  if (status === "streaming" && (agent.status === "idle" || agent.status === "waiting")) return { status: "streaming" };
  if (status === "ready" && asksApproval(messages.at(-1))) return { status: "asking" };
  return agent;
}
