// What went wrong, as a code, and what to do next. texts.ts has English words for each code.
import type { UIMessage } from "ai";

import { finishOf } from "./streams.js";

/** What is known of the newest turn: there is none, its prompt is on its way, it has begun. */
export type Turn = "none" | "asked" | "runs";

/** `reconnect` reads everything anew; `retry` sends the last prompt again. */
export type Step = "reconnect" | "retry";

export type Code =
  // The line, or the gateway. The session reads everything anew by itself.
  | "unreached"
  | "connection_lost"
  | "line_silent"
  | "unavailable"
  | "agent_hung_up"
  | "gateway_restarting"
  // Turns that ended early.
  | "agent_unreached"
  | "agent_silent"
  | "unknown_answer"
  | "turn_too_long"
  | "client_too_slow"
  | "turn_failed"
  // Requests that the gateway refused.
  | "signed_out"
  | "not_found"
  | "conflict"
  | "question_closed"
  | "too_many_streams"
  | "too_many_turns"
  | "too_large"
  | "bad_request"
  | "refused"
  // What a look at the history found.
  | "not_sent"
  | "unanswered"
  | "cut_short"
  | "forgotten"
  // The streams of this browser are taken.
  | "no_slot"
  | "crowded";

export interface Notice {
  code: Code;
  /** None where only another prompt can help. */
  step: Step | null;
  /** What was known of the turn when this happened. */
  turn: Turn;
  /** Whether the session takes the step by itself first. */
  automatic: boolean;
  /** Whether it took that step as often as it does, in vain. */
  gaveUp: boolean;
  /** The agent's or the gateway's own words, where there are any. */
  detail: string;
}

/** The gateway's fixed texts for a stream that ended early. The turn may go on. */
const MAY_GO_ON: Record<string, Code> = {
  "Stream interrupted": "agent_hung_up",
  "Gateway restarting": "gateway_restarting",
};

/** Those that end the turn. */
const ENDED: Record<string, [code: Code, step: Step]> = {
  "Connection failed": ["agent_unreached", "retry"],
  "Agent stopped responding": ["agent_silent", "retry"],
  "Turn took too long": ["turn_too_long", "retry"],
  "Client too slow": ["client_too_slow", "retry"],
  // The history has the answer.
  "The agent does not say whose answer this is": ["unknown_answer", "reconnect"],
};

const REFUSED: Record<string, [code: Code, step: Step | null]> = {
  unauthorized: ["signed_out", "reconnect"],
  not_found: ["not_found", "reconnect"],
  question_closed: ["question_closed", "reconnect"],
  conflict: ["conflict", "retry"],
  too_many_streams: ["too_many_streams", "retry"],
  too_many_turns: ["too_many_turns", "retry"],
  // The same again would be refused again.
  too_large: ["too_large", null],
  bad_request: ["bad_request", null],
};

const BROKEN_LINE = new Set(["CutShort", "TimeoutError", "TypeError"]);

/** Of a turn, or of a prompt that did not become one. */
export function noticeOf(error: Error, turn: Turn): Notice {
  if (error.name === "NoToken") return notice("signed_out", "reconnect", { turn });
  if (error.name === "NoSlot") return notice("no_slot", "retry", { turn });
  if (BROKEN_LINE.has(error.name)) return broken(turn === "none" ? "unreached" : "connection_lost", turn);
  if (error.name === "FellSilent") return broken("line_silent", turn);
  const interrupted = MAY_GO_ON[error.message];
  if (interrupted !== undefined) return broken(interrupted, turn);
  const ended = ENDED[error.message];
  if (ended !== undefined) return notice(...ended, { turn });
  const refusal = refusalOf(error.message);
  if (refusal === null && error.name === "Unavailable") return broken("unavailable", turn);
  if (refusal === null) return notice("turn_failed", "retry", { turn, detail: error.message });
  if (refusal.code === "unavailable") return broken("unavailable", turn);
  const [code, step] = REFUSED[refusal.code] ?? ["refused", "retry"];
  return notice(code, step, { turn, detail: refusal.error });
}

/** Of what could not be read: a turn may run, and to send its prompt again would be a second one. */
export function noticeOfLook(error: Error, turn: Turn): Notice {
  return reading(noticeOf(error, turn));
}

/** Of an answer that the gateway did not take: nothing is done about it by itself. */
export function noticeOfAnswer(error: Error, turn: Turn): Notice {
  return { ...reading(noticeOf(error, turn)), automatic: false };
}

/** Of an answer whose turn did not end well, as its message states it. */
export function noticeOfEnd(message: UIMessage | undefined): Notice | null {
  const finish = finishOf(message);
  if (finish === undefined) return null;
  if (finish.reason === "canceled") return found("cut_short");
  return { ...noticeOf(new Error(finish.errorText), "none"), step: "retry", automatic: false };
}

/** Of what a look at the history found. */
export function found(code: "not_sent" | "unanswered" | "cut_short" | "forgotten" | "crowded"): Notice {
  return notice(code, code === "crowded" ? "reconnect" : "retry", { turn: "none" });
}

function reading(it: Notice): Notice {
  return it.step === "retry" ? { ...it, step: "reconnect" } : it;
}

function broken(code: Code, turn: Turn): Notice {
  return { ...notice(code, "reconnect", { turn }), automatic: true };
}

function notice(code: Code, step: Step | null, { turn, detail = "" }: { turn: Turn; detail?: string }): Notice {
  return { code, step, turn, automatic: false, gaveUp: false, detail };
}

function refusalOf(message: string): { code: string; error: string } | null {
  try {
    const { code, error } = JSON.parse(message) as { code?: unknown; error?: unknown };
    return typeof code === "string" && typeof error === "string" ? { code, error } : null;
  } catch {
    return null;
  }
}
