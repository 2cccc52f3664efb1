// English words for each notice, for whoever uses a chat and knows nothing of gateways.
import type { Code, Notice, Turn } from "./notice.js";

export type Words = readonly [title: string, text: string];

const UNREACHED: Words = ["Cannot reach the chat service", ""];

const BROKEN: Record<Turn, Words> = {
  none: UNREACHED,
  asked: ["No connection", "It is not known yet whether your message was sent."],
  runs: ["Connection lost", "The answer goes on without it, and will be picked up."],
};

const WORDS: Partial<Record<Code, Words>> = {
  agent_unreached: ["The agent was not reached", "Nothing was sent."],
  agent_silent: ["The agent stopped responding", "The turn was ended."],
  unknown_answer: ["It is not known whose answer this is", "Reload the page: the history has it."],
  turn_too_long: ["The turn took too long", "The turn was ended."],
  client_too_slow: ["This page read too slowly", "The turn was ended."],
  signed_out: ["Signed out", "Sign in again, or reload the page, and try again."],
  not_found: ["No such conversation", "It is gone, or it is not yours."],
  conflict: ["Busy", "The conversation takes no message now."],
  question_closed: ["Too late", "The question is not open any more."],
  too_many_streams: ["Too many conversations", "Close a tab, or wait for an answer to end."],
  too_many_turns: ["Too many messages", "Wait a little."],
  not_sent: ["Not sent", "The connection broke before."],
  unanswered: ["No answer came", "The turn ended without one."],
  cut_short: ["The answer was cut short", "The turn ended before it was whole."],
  forgotten: ["The agent forgot this conversation", "It began anew. Ask again."],
  no_slot: ["Too many conversations", "Close a tab, or wait for an answer to end."],
  crowded: ["Too many tabs", "The answer appears here when it is whole."],
};

export function wordsOf({ code, turn, automatic, detail }: Notice): Words {
  // A look has found that the turn does not go on.
  const brokeOff = !automatic && (code === "agent_hung_up" || code === "gateway_restarting");
  if (brokeOff) return WORDS.cut_short as Words;
  const words = WORDS[code];
  if (words !== undefined) return words;
  if (code === "turn_failed") return ["The turn failed", detail];
  if (code === "line_silent") return ["The connection fell silent", BROKEN[turn][1]];
  if (code === "unavailable") return ["Not available for now", BROKEN[turn][1]];
  const isLine = code === "unreached" || code === "connection_lost" || code === "agent_hung_up" || code === "gateway_restarting";
  return isLine ? BROKEN[turn] : ["Not accepted", detail];
}
