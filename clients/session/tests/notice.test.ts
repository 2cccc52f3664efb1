import assert from "node:assert/strict";
import { test } from "node:test";

import { CutShort, FellSilent, NoSlot, Unavailable } from "../src/errors.js";
import { noticeOf, noticeOfAnswer, noticeOfEnd, noticeOfLook } from "../src/notice.js";
import { wordsOf } from "../src/texts.js";
import { NoToken } from "../src/tokens.js";

const refused = (code: string) => new Error(JSON.stringify({ code, error: "The gateway's words" }));
const late = new DOMException("late", "TimeoutError");

const CASES: [error: Error, code: string, step: string | null, automatic: boolean, title: string][] = [
  [new TypeError("fetch failed"), "connection_lost", "reconnect", true, "Connection lost"],
  [new CutShort(), "connection_lost", "reconnect", true, "Connection lost"],
  [new FellSilent(), "line_silent", "reconnect", true, "The connection fell silent"],
  [late, "connection_lost", "reconnect", true, "Connection lost"],
  [new Error("Stream interrupted"), "agent_hung_up", "reconnect", true, "Connection lost"],
  [new Error("Gateway restarting"), "gateway_restarting", "reconnect", true, "Connection lost"],
  [refused("unavailable"), "unavailable", "reconnect", true, "Not available for now"],
  [new Unavailable("no JSON"), "unavailable", "reconnect", true, "Not available for now"],
  [new Error("Connection failed"), "agent_unreached", "retry", false, "The agent was not reached"],
  [new Error("Agent stopped responding"), "agent_silent", "retry", false, "The agent stopped responding"],
  [new Error("Turn took too long"), "turn_too_long", "retry", false, "The turn took too long"],
  [new Error("Client too slow"), "client_too_slow", "retry", false, "This page read too slowly"],
  [
    new Error("The agent does not say whose answer this is"),
    ...(["unknown_answer", "reconnect", false, "It is not known whose answer this is"] as const),
  ],
  [new Error("The agent's words"), "turn_failed", "retry", false, "The turn failed"],
  [new NoToken(), "signed_out", "reconnect", false, "Signed out"],
  [new NoSlot(), "no_slot", "retry", false, "Too many conversations"],
  [refused("unauthorized"), "signed_out", "reconnect", false, "Signed out"],
  [refused("not_found"), "not_found", "reconnect", false, "No such conversation"],
  [refused("question_closed"), "question_closed", "reconnect", false, "Too late"],
  [refused("conflict"), "conflict", "retry", false, "Busy"],
  [refused("too_many_streams"), "too_many_streams", "retry", false, "Too many conversations"],
  [refused("too_many_turns"), "too_many_turns", "retry", false, "Too many messages"],
  [refused("too_large"), "too_large", null, false, "Not accepted"],
  [refused("bad_request"), "bad_request", null, false, "Not accepted"],
  [refused("of tomorrow"), "refused", "retry", false, "Not accepted"],
];

for (const [error, code, step, automatic, title] of CASES) {
  test(`what ${error.name} (${error.message}) means`, () => {
    const notice = noticeOf(error, "runs");
    assert.deepEqual([notice.code, notice.step, notice.automatic], [code, step, automatic]);
    assert.equal(wordsOf(notice)[0], title);
    // A turn may run: to send its prompt again would be a second one.
    assert.notEqual(noticeOfLook(error, "runs").step, "retry");
    assert.equal(noticeOfAnswer(error, "runs").automatic, false);
  });
}

test("a line that breaks promises nothing of a turn that may never have begun", () => {
  const words = (["none", "asked", "runs"] as const).map((turn) => wordsOf(noticeOf(new CutShort(), turn))[0]);
  assert.deepEqual(words, ["Cannot reach the chat service", "No connection", "Connection lost"]);
  assert.equal(noticeOf(new CutShort(), "none").code, "unreached");
});

test("a message states how its turn ended", () => {
  const ended = (finish: unknown) => noticeOfEnd({ id: "a", role: "assistant", parts: [], metadata: { finish } });
  assert.equal(noticeOfEnd(undefined), null);
  assert.equal(ended(undefined), null);
  assert.equal(ended({ reason: "canceled" })?.code, "cut_short");
  const failed = ended({ reason: "error", errorText: "Stream interrupted" });
  assert.deepEqual([failed?.code, failed?.step, failed?.automatic], ["agent_hung_up", "retry", false]);
});
