// A prompt that waits is its page's, until another page takes it.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Unsent, WAITING } from "../src/unsent.js";
import { memory } from "./memory.js";
import { user } from "./scripted.js";

const pages = (storage = memory()) => [1, 2].map(() => new Unsent(storage, "s1", () => {})) as [Unsent, Unsent];

test("one waits until a page sends it, and when that gives it back", () => {
  const [page, other] = pages();
  page.keep([user("m1", "Hello")], WAITING);
  assert.deepEqual([other.isWaiting("m1"), other.isWaiting("m2")], [true, false]);
  other.keep([user("m1", "Hello")]);
  assert.equal(page.isWaiting("m1"), false);
  for (const [code, expected] of [["not_sent", false], [WAITING, true]] as const) {
    other.release("m1", code);
    assert.equal(page.isWaiting("m1"), expected, code);
  }
  other.remove("m1");

  assert.equal(page.isWaiting("m1"), false);
});

test("one that waits is held, but no longer once another page sends it", (context) => {
  context.mock.timers.enable({ apis: ["setInterval", "Date"] });
  const [page, other] = pages();
  page.keep([user("m1", "Hello")], WAITING);
  context.after(page.hold("m1", WAITING));
  for (let second = 0; second < 60; second++) context.mock.timers.tick(1_000);
  assert.equal(other.take("m1"), null);

  other.keep([user("m1", "Hello")]);
  // The other page is gone.
  for (let second = 0; second < 30; second++) context.mock.timers.tick(1_000);
  assert.equal(page.take("m1")?.message.id, "m1");
});
