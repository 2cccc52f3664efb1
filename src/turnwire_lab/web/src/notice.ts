// What went wrong, in words for whoever uses the page, and what to do next.
import type { UIMessage } from "ai";
import type { Code, Notice, Step as Taken, State } from "turnwire-session";

export type Step = Taken | "reload";

export interface Shown {
  title: string;
  text: string;
  /** None where nothing but another prompt can help. */
  step: Step | null;
  /** Whether it may turn out well without its user. */
  isHopeful: boolean;
}

type Words = readonly [title: string, text: string];

const CONNECTION: Words = ["Connection lost", "The turn may go on without this page. It is picked up where it is."];
// Where a look has found that the turn does not go on.
const BROKE_OFF: Partial<Record<Code, Words>> = {
  agent_hung_up: ["The agent hung up", "The turn ended with it. What came before is kept."],
  gateway_restarting: ["The gateway restarted", "The turn ended with it. What came before is kept."],
};
const WITHOUT_ANSWER: Words = ["The turn ended without an answer", "What was said before is kept."];
const LOST_FOR_GOOD: Words = ["No answer from the gateway", "It was tried several times."];

// Null: the words of whoever refused it.
const WORDS: Record<Code, Words | null> = {
  unreached: CONNECTION,
  connection_lost: CONNECTION,
  line_silent: ["The connection fell silent", `No sign of life came for a while. ${CONNECTION[1]}`],
  unavailable: ["Not available for now", CONNECTION[1]],
  agent_hung_up: ["The agent hung up", "The gateway said so at once. Looking whether the turn goes on."],
  gateway_restarting: [
    "The gateway restarts",
    "The agent's turn is not touched by it. It will be picked up where it is.",
  ],
  agent_unreached: ["The agent was not reached", "Nothing was sent. Try again."],
  agent_silent: ["The agent stopped responding", "The gateway waited, told the agent to stop, and ended the turn."],
  unknown_answer: [
    "It is not known whose answer this is",
    "The agent does not say so, and several gateways serve this session. The history has it.",
  ],
  turn_too_long: ["The turn took too long", "The gateway told the agent to stop."],
  client_too_slow: ["This page read too slowly", "The gateway stopped the turn rather than hold it in memory."],
  turn_failed: null,
  signed_out: ["Signed out", "The page's token is not good any more."],
  not_found: ["No such session", "It is gone, or it is not yours."],
  conflict: ["Busy", "The session cannot take this prompt now."],
  question_closed: ["Too late", "The question is not open any more."],
  too_many_streams: ["Too many streams", "Close a tab, or wait for a turn to end."],
  too_many_turns: ["Too many turns", "Wait a little."],
  too_large: ["Too large", "Attach less, or smaller files."],
  bad_request: null,
  refused: null,
  not_sent: WITHOUT_ANSWER,
  unanswered: WITHOUT_ANSWER,
  cut_short: [
    "The answer was cut short",
    "This page read too slowly, or its line broke, and the turn was stopped. What came before is kept.",
  ],
  forgotten: [
    "The agent forgot this session",
    "It began anew, without what was said before and without this turn. Ask again.",
  ],
  no_slot: [
    "Too many streams in this browser",
    "It opens six connections to a host, and answers in other tabs have them. Wait for one to end, or close a tab.",
  ],
  crowded: [
    "Too many tabs follow",
    "A browser opens six connections to a host, and other tabs have them. The answer appears here when it is whole.",
  ],
};

// Nothing that the page has can help: its server hands it all anew.
const RELOAD = new Set<Code>(["signed_out", "not_found", "unknown_answer"]);

export const STOPPED = "was stopped";

/** What stands there of it; nothing while a page that was just opened goes on trying. */
export function shownOf({ notice, loading }: State): Shown | null {
  if (notice === null || (loading && notice.automatic && !notice.gaveUp)) return null;
  const [title, text] = wordsOf(notice);
  const isHopeful = (notice.automatic && !notice.gaveUp) || notice.code === "crowded";
  return { title, text, step: RELOAD.has(notice.code) ? "reload" : notice.step, isHopeful };
}

/** Whether what stands there is how the newest answer ended. */
export function concernsAnswer(notice: Notice | null, newest: UIMessage | undefined): boolean {
  return notice?.step === "retry" && newest?.role === "assistant";
}

/** What stands under the message of a turn that did not end well, when the notice is long gone. */
export function reasonOf(notice: Notice): string {
  const { code, detail } = notice;
  if (code === "cut_short") return STOPPED;
  const reason = code === "turn_failed" ? detail : wordsOf(notice)[0].replace(/^The /, "the ");
  return `failed: ${code === "unanswered" || code === "not_sent" ? "no answer" : reason}`;
}

function wordsOf({ code, gaveUp, automatic, detail }: Notice): Words {
  if (gaveUp) return LOST_FOR_GOOD;
  const brokeOff = automatic ? undefined : BROKE_OFF[code];
  if (brokeOff !== undefined) return brokeOff;
  return WORDS[code] ?? [code === "turn_failed" ? "The turn failed" : "Not accepted", detail];
}
