// A session as its parts on the page show it.
import type { UIMessage } from "ai";

import type { Notice } from "./notice";

export interface AgentStatus {
  status: string;
  detail?: string;
}

/** How far the newest turn of this page is: an id is that of the message with which it ended. */
export type Progress = "sent" | "failed" | { over: string } | null;

export interface View {
  agent: AgentStatus;
  notice: Notice | null;
  loading: boolean;
  recovering: boolean;
  stopping: boolean;
  /** How turns ended that did not end well, by the message that shows it. */
  ended: ReadonlyMap<string, string>;
  progress: Progress;
  /** A prompt that was refused as it is: it goes back to where it was written. */
  refused: UIMessage | null;
}

export const IDLE: AgentStatus = { status: "idle" };
// The gateway took the prompt, and nobody said yet what the agent does.
export const WAITING: AgentStatus = { status: "waiting" };
