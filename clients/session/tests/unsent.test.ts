import assert from "node:assert/strict";
import { test } from "node:test";

import type { UIMessage } from "ai";

import { arrived, type Sent, Unsent, withUnsent } from "../src/unsent.js";

const user = (id: string, text: string): UIMessage => ({ id, role: "user", parts: [{ type: "text", text }] });
const answer = (id: string): UIMessage => ({ id, role: "assistant", parts: [{ type: "text", text: "so" }] });

const url = (bytes: string, type = "image/png") => `data:${type};base64,${bytes}`;
const files = (id: string, ...urls: string[]): UIMessage => ({
  id,
  role: "user",
  parts: urls.map((each) => ({ type: "file", mediaType: "image/png", url: each })),
});

const NEW: Sent = { message: user("mine", "why?"), after: "a1", before: new Set(["u1", "a1"]), again: false };
const AGAIN: Sent = { message: user("u1", "why?"), after: "a1", before: new Set(), again: true };
const PICTURE: Sent = { ...NEW, message: files("mine", url("AAAA")) };

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
  ["the same file", PICTURE, [user("u1", "hm"), answer("a1"), files("m2", url("AAAA"))], true, []],
  ["the same file, with its true type", PICTURE, [answer("a1"), files("m2", url("AAAA", "image/jpeg"))], true, []],
  ["another file", PICTURE, [answer("a1"), files("m2", url("BBBB"))], false, ["a1", "m2", "mine"]],
  ["a file that the agent no longer has", PICTURE, [answer("a1"), user("m2", "")], true, []],
  ["a text, where a file was sent", PICTURE, [answer("a1"), user("m2", "hm")], false, ["a1", "m2", "mine"]],
  ["a file, where a text was sent", NEW, [answer("a1"), files("m2", url("AAAA"))], false, ["a1", "m2", "mine"]],
];

for (const [name, sent, history, has, shown] of CASES) {
  test(`a prompt that may not have arrived: ${name}`, () => {
    assert.equal(arrived(sent, history), has);
    if (!has) assert.deepEqual(withUnsent(history, sent).map(({ id }) => id), shown);
  });
}

/** The texts and files of all prompts but the last, sent one after the other into the void, that this history lacks.
 * `came` says that the last one arrived; its agent has ids of its own. */
function lost(sent: readonly UIMessage[], history: UIMessage[], came = true): string[] {
  const unsent = new Unsent();
  sent.forEach((_, at) => unsent.sending([answer("a0"), ...sent.slice(0, at + 1)], false, undefined));
  if (came) unsent.settle();
  return unsent.takeLost(history).map(({ id }) => id);
}

test("a message of the history is that of one prompt alone, the newest that says the same", () => {
  const [a, b, c] = [user("a", "ok"), user("b", "ok"), user("c", "ok")] as const;
  const before = [user("s0", "ok"), answer("a0")];
  const [first, second] = [[user("s1", "ok"), answer("a1")], [user("s2", "ok"), answer("a2")]] as const;
  for (const came of [true, false]) {
    assert.deepEqual(lost([a, b], [...before, ...first], came), ["a"]);
    assert.deepEqual(lost([a, b], [...before, ...first, ...second], came), []);
    assert.deepEqual(lost([a, b, c], [...before, ...first, ...second], came), ["a"]);
    assert.deepEqual(lost([a, b, c], [...before, ...first], came), ["a", "b"]);
    assert.deepEqual(lost([a, user("b", "so"), c], [...before, ...first], came), ["a", "b"]);
  }
  // By its id, where the agent keeps that.
  assert.deepEqual(lost([a, b, c], [...before, a, answer("a1"), c, answer("a2")]), ["b"]);
  assert.deepEqual(lost([a, c], [...before, user("a", "OK!"), answer("a1"), c, answer("a2")]), []);
});

test("a prompt that came, after one of which nobody knows, keeps its message when another follows", () => {
  const unsent = new Unsent();
  unsent.sending([user("a", "ok")], false, undefined);
  unsent.sending([user("a", "ok"), user("b", "ok")], false, undefined);
  unsent.settle();
  unsent.sending([user("a", "ok"), user("b", "ok"), answer("a1"), user("c", "so")], false, undefined);
  const history = [user("s1", "ok"), answer("a1"), user("s2", "so")];
  assert.deepEqual(unsent.takeLost(history).map(({ id }) => id), ["a"]);
  // They are known no more.
  assert.equal(unsent.hasOlder, false);
  assert.deepEqual(unsent.takeLost([]), []);
});

test("a prompt that came is not given back, though the history no longer has it", () => {
  const unsent = new Unsent();
  unsent.sending([user("a", "one")], false, undefined);
  unsent.sending([user("a", "one"), user("b", "two")], false, undefined);
  unsent.settle();
  assert.deepEqual(unsent.takeLost([answer("a9")]).map(({ id }) => id), ["a"]);
});

test("what the history has before the answer that a prompt followed is not that prompt", () => {
  const unsent = new Unsent();
  unsent.sending([user("a", "ok")], false, undefined);
  unsent.settle();
  unsent.sending([user("a", "ok"), answer("a1"), user("b", "ok")], false, undefined);
  unsent.sending([user("a", "ok"), answer("a1"), user("b", "ok"), user("c", "so")], false, undefined);
  const history = [user("s1", "ok"), answer("a1"), user("s3", "so"), answer("a3")];
  assert.deepEqual(unsent.takeLost(history).map(({ id }) => id), ["b"]);
});

test("a prompt that was given back takes no message from one that arrived", () => {
  const unsent = new Unsent();
  unsent.sending([user("a", "ok")], false, undefined);
  unsent.sending([user("a", "ok"), user("b", "ok")], false, undefined);
  unsent.drop();
  assert.deepEqual(unsent.takeLost([user("s1", "ok")]), []);
});

test("prompts of files alone are told apart by their files", () => {
  const [a, b, c] = [files("a", url("AAAA")), files("b", url("BBBB")), user("c", "so")] as const;
  const end = [user("s3", "so"), answer("a3")];
  assert.deepEqual(lost([a, b, c], [files("s1", url("BBBB")), answer("a1"), ...end]), ["a"]);
  assert.deepEqual(lost([a, b, c], [files("s1", url("AAAA")), answer("a1"), ...end]), ["b"]);
  assert.deepEqual(lost([a, b, c], [files("s1", url("AAAA"), url("BBBB")), ...end]), ["a", "b"]);
  assert.deepEqual(lost([files("a", "https://x/1"), files("b", "https://x/2"), c], [files("s1", "https://x/2"), ...end]), ["a"]);
});
