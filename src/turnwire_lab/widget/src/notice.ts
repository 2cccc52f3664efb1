// What went wrong, in words for whoever uses the widget, and what to do next.

export interface Notice {
  title: string;
  text: string;
  /** `reconnect` and `reach` read everything anew, `reach` while the widget tries to by itself too;
   * `retry` sends the last prompt again. */
  step: "reconnect" | "reach" | "retry";
  /** Whether the widget takes the step by itself first. */
  byItself?: true;
}

type Words = [title: string, text: string];

/** What is known of a turn: there is none, its prompt is on its way, it has begun. */
export type Turn = "none" | "asked" | "runs";

const BROKEN: Record<Turn, Notice> = {
  none: { title: "Cannot reach the chat service", text: "", step: "reach", byItself: true },
  asked: {
    title: "No connection",
    text: "It is not known yet whether your message was sent.",
    step: "reconnect",
    byItself: true,
  },
  runs: {
    title: "Connection lost",
    text: "The answer goes on without it, and will be picked up.",
    step: "reconnect",
    byItself: true,
  },
};

// The gateway's fixed texts for a stream that ended early: worth a look whether the turn goes on.
const MAY_GO_ON = new Set(["Stream interrupted", "Gateway restarting"]);

const ENDED: Record<string, Words> = {
  "Connection failed": ["The agent was not reached", "Nothing was sent."],
  "Agent stopped responding": ["The agent stopped responding", "The turn was ended."],
  "The agent does not say whose answer this is": [
    "It is not known whose answer this is",
    "Reload the page: the history has it.",
  ],
  "Turn took too long": ["The turn took too long", "The turn was ended."],
  "Client too slow": ["This page read too slowly", "The turn was ended."],
};

const REFUSED: Record<string, Words> = {
  not_found: ["No such conversation", "It is gone, or it is not yours."],
  conflict: ["Busy", "The conversation takes no message now."],
  question_closed: ["Too late", "The question is not open any more."],
  too_many_streams: ["Too many conversations", "Close a tab, or wait for an answer to end."],
  too_many_turns: ["Too many messages", "Wait a little."],
};

const SIGNED_OUT: Words = ["Signed out", "Sign in again, or reload the page, and try again."];

export const UNANSWERED: Notice = {
  title: "No answer came",
  text: "The turn ended without one.",
  step: "retry",
};

export const CUT_SHORT: Notice = {
  title: "The answer was cut short",
  text: "The turn ended before it was whole.",
  step: "retry",
};

export const NOT_SENT: Notice = {
  title: "Not sent",
  text: "The connection broke before.",
  step: "retry",
};

export function noticeOf(error: Error, turn: Turn): Notice {
  if (error.name === "NoToken") return told(SIGNED_OUT, "reconnect");
  if (error.name === "CutShort" || error.name === "TimeoutError" || error instanceof TypeError) return BROKEN[turn];
  if (MAY_GO_ON.has(error.message)) return BROKEN[turn];
  const ended = ENDED[error.message];
  if (ended !== undefined) return told(ended, "retry");
  const refused = refusalOf(error.message);
  if (refused === null) return told(["The turn failed", error.message], "retry");
  if (refused.code === "unauthorized") return told(SIGNED_OUT, "reconnect");
  if (refused.code === "unavailable") return { ...BROKEN[turn], title: "Not available for now" };
  const step = refused.code === "not_found" || refused.code === "question_closed" ? "reconnect" : "retry";
  return told(REFUSED[refused.code] ?? ["Not accepted", refused.error], step);
}

function told([title, text]: Words, step: Notice["step"]): Notice {
  return { title, text, step };
}

function refusalOf(message: string): { code: string; error: string } | null {
  try {
    const { code, error } = JSON.parse(message) as { code?: unknown; error?: unknown };
    return typeof code === "string" && typeof error === "string" ? { code, error } : null;
  } catch {
    return null;
  }
}
