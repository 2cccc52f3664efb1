import assert from "node:assert/strict";
import { test } from "node:test";

import type { UIMessage } from "ai";

import { arrived, type Sent, withUnsent } from "../src/unsent.js";

const user = (id: string, text: string): UIMessage => ({ id, role: "user", parts: [{ type: "text", text }] });
const answer = (id: string): UIMessage => ({ id, role: "assistant", parts: [{ type: "text", text: "so" }] });

const NEW: Sent = { message: user("mine", "why?"), after: "a1", before: new Set(["u1", "a1"]), again: false };
const AGAIN: Sent = { message: user("u1", "why?"), after: "a1", before: new Set(), again: true };

const CASES: [name: string, sent: Sent, history: UIMessage[], arrived: boolean, shown: string[]][] = [
  ["the agent has its id", NEW, [user("u1", "why?"), answer("a1"), user("mine", "why?")], true, []],
  ["another id, and it is new", NEW, [user("u1", "hm"), answer("a1"), user("m2", "why?")], true, []],
  ["another id, with its answer", NEW, [user("u1", "hm"), answer("a1"), user("m2", "why?"), answer("a2")], true, []],
  ["nothing came", NEW, [user("u1", "hm"), answer("a1")], false, ["u1", "a1", "mine"]],
  ["the same was asked before", NEW, [user("u1", "why?"), answer("a1")], false, ["u1", "a1", "mine"]],
  ["the same, whose answer has another id now", NEW, [user("u1", "why?"), answer("b1")], false, ["u1", "b1", "mine"]],
  ["the same, under another id now", NEW, [user("m1", "why?"), answer("a1")], false, ["m1", "a1", "mine"]],
  ["somebody else asked", NEW, [user("u1", "hm"), answer("a1"), user("x", "who?")], false, ["u1", "a1", "x", "mine"]],
  ["the agent forgot all", NEW, [], false, ["mine"]],
  ["a retry that never came", AGAIN, [user("u1", "why?"), answer("a1")], false, ["u1", "a1"]],
  ["a retry with its answer", AGAIN, [user("u1", "why?"), answer("a2")], true, []],
  ["a retry of which the agent knows nothing", AGAIN, [], false, ["u1"]],
];

for (const [name, sent, history, has, shown] of CASES) {
  test(`a prompt that may not have arrived: ${name}`, () => {
    assert.equal(arrived(sent, history), has);
    if (!has) assert.deepEqual(withUnsent(history, sent).map(({ id }) => id), shown);
  });
}
