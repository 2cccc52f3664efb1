// What went wrong, in words for whoever uses the page, and what to do next.

import type { UIMessage } from "ai";

export type Step = "reconnect" | "retry" | "reload";

export interface Notice {
  title: string;
  text: string;
  /** None where nothing but another prompt can help. */
  step: Step | null;
  /** Whether the page takes the step by itself first. */
  byItself: boolean;
}

const CONNECTION: Notice = {
  title: "Connection lost",
  text: "The turn may go on without this page. It is picked up where it is.",
  step: "reconnect",
  byItself: true,
};

// The fixed texts of a stream that ended early.
const ENDED: Record<string, Notice> = {
  "Stream interrupted": {
    title: "The agent hung up",
    text: "The gateway said so at once. Looking whether the turn goes on.",
    step: "reconnect",
    byItself: true,
  },
  "Gateway restarting": {
    title: "The gateway restarts",
    text: "The agent's turn is not touched by it. It will be picked up where it is.",
    step: "reconnect",
    byItself: true,
  },
  "Client too slow": {
    title: "This page read too slowly",
    text: "The gateway stopped the turn rather than hold it in memory.",
    step: "retry",
    byItself: false,
  },
  "Agent stopped responding": {
    title: "The agent stopped responding",
    text: "The gateway waited, told the agent to stop, and ended the turn.",
    step: "retry",
    byItself: false,
  },
  "The agent does not say whose answer this is": {
    title: "It is not known whose answer this is",
    text: "The agent does not say so, and several gateways serve this session. The history has it.",
    step: "reload",
    byItself: false,
  },
  "Turn took too long": {
    title: "The turn took too long",
    text: "The gateway told the agent to stop.",
    step: "retry",
    byItself: false,
  },
  "Connection failed": {
    title: "The agent was not reached",
    text: "Nothing was sent. Try again.",
    step: "retry",
    byItself: false,
  },
};

const REFUSED: Record<string, Pick<Notice, "title" | "text" | "step">> = {
  unauthorized: { title: "Signed out", text: "The page's token is not good any more.", step: "reload" },
  not_found: { title: "No such session", text: "It is gone, or it is not yours.", step: "reload" },
  too_large: { title: "Too large", text: "Attach less, or smaller files.", step: null },
  too_many_streams: { title: "Too many streams", text: "Close a tab, or wait for a turn to end.", step: "retry" },
  too_many_turns: { title: "Too many turns", text: "Wait a little.", step: "retry" },
  conflict: { title: "Busy", text: "The session cannot take this prompt now.", step: "retry" },
  question_closed: { title: "Too late", text: "The question is not open any more.", step: "reconnect" },
};

export const LOST_FOR_GOOD: Notice = {
  title: "No answer from the gateway",
  text: "It was tried several times.",
  step: "reconnect",
  byItself: false,
};

const NO_STREAM: Notice = {
  title: "Too many streams in this browser",
  text: "It opens six connections to a host, and answers in other tabs have them. Wait for one to end, or close a tab.",
  step: "retry",
  byItself: false,
};

/** Of a turn that another tab began, when this one may not follow it. */
export const CROWDED: Notice = {
  title: "Too many tabs follow",
  text: "A browser opens six connections to a host, and other tabs have them. The answer appears here when it is whole.",
  step: "reconnect",
  byItself: false,
};

/** Of an agent that knows less of the session than this page. */
export const FORGOTTEN: Notice = {
  title: "The agent forgot this session",
  text: "It began anew, without what was said before and without this turn. Ask again.",
  step: "retry",
  byItself: false,
};

export const WITHOUT_ANSWER: Notice = {
  title: "The turn ended without an answer",
  text: "What was said before is kept.",
  step: "retry",
  byItself: false,
};

/** Of a turn that was stopped, and nobody here asked for it. */
const CUT_OFF: Notice = {
  title: "The answer was cut short",
  text: "This page read too slowly, or its line broke, and the turn was stopped. What came before is kept.",
  step: "retry",
  byItself: false,
};

const FAILED = "The turn failed";

export const STOPPED = "was stopped";

/** What stands under the message of a turn that did not end well, when the notice is long gone. */
export function reasonOf(notice: Notice): string {
  const { title, text } = notice;
  if (notice === CUT_OFF) return STOPPED;
  const reason = title === FAILED ? text : title === WITHOUT_ANSWER.title ? "no answer" : title.replace(/^The /, "the ");
  return `failed: ${reason}`;
}

/** Of an answer whose turn did not end well, as the agent's history says it. */
export function noticeOfEnd({ metadata }: UIMessage): Notice | null {
  const { finish } = (metadata ?? {}) as { finish?: { reason: string; errorText?: string } };
  if (finish === undefined) return null;
  if (finish.reason === "canceled") return CUT_OFF;
  return { ...noticeOf(new Error(finish.errorText)), step: "retry", byItself: false };
}

export function noticeOf(error: Error): Notice {
  const ended = ENDED[error.message];
  if (ended !== undefined) return ended;
  if (error.name === "NoPlace") return NO_STREAM;
  if (error.name === "CutShort" || error.name === "TimeoutError" || error instanceof TypeError) return CONNECTION;
  const refused = refusalOf(error.message);
  if (refused !== null) {
    const known = REFUSED[refused.code];
    if (known !== undefined) return { ...known, byItself: false };
    if (refused.code === "unavailable") return { ...CONNECTION, title: "Not available for now" };
    const step = refused.code === "bad_request" ? null : "retry";
    return { title: "Not accepted", text: refused.error, step, byItself: false };
  }
  return { title: FAILED, text: error.message, step: "retry", byItself: false };
}

/** Of what could not be read: a turn may run, and to send its prompt again would be a second one. */
export function noticeOfLook(error: Error): Notice {
  const notice = noticeOf(error);
  return notice.step === "retry" ? { ...notice, step: "reconnect" } : notice;
}

function refusalOf(message: string): { code: string; error: string } | null {
  try {
    const body = JSON.parse(message) as { code?: unknown; error?: unknown };
    if (typeof body.code === "string" && typeof body.error === "string") {
      return { code: body.code, error: body.error };
    }
  } catch {
    // Not a refusal of the gateway.
  }
  return null;
}
