import assert from "node:assert/strict";
import { test } from "node:test";

import { Tries } from "../src/tries.js";
import { answer } from "./scripted.js";

const WAITS = [0, 400, 800, 1600, 3200, 5000];

const left = (tries: Tries) => {
  const waits: number[] = [];
  for (let wait = tries.next(); wait !== null; wait = tries.next()) waits.push(wait);
  return waits;
};

/** After three tries. */
function tried(): Tries {
  const tries = new Tries();
  for (let made = 0; made < 3; made++) tries.next();
  return tries;
}

test("there are six tries, until they begin anew", () => {
  const tries = new Tries();
  assert.equal(tries.areLeft, true);
  assert.deepEqual(left(tries), WAITS);
  assert.equal(tries.areLeft, false);
  assert.deepEqual(left(tries), []);
  tries.anew();
  assert.deepEqual(left(tries), WAITS);
});

test("a stream that broke with more than those before it was worth its try; the next one waits as after the first", () => {
  const tries = tried();
  tries.broke("t1", answer("t1", "so"));
  assert.equal(tries.next(), WAITS[1]);
  tries.broke("t1", answer("t1", "so it is"));
  assert.deepEqual(left(tries), WAITS.slice(1));
});

test("before the first try there is no wait, whatever the stream before it brought", () => {
  const tries = new Tries();
  tries.broke("t1", answer("t1", "so"));
  assert.deepEqual(left(tries), WAITS);
});

test("one that broke with as much, with less, or with nothing was not", () => {
  const tries = new Tries();
  tries.broke("t1", answer("t1", "so it is"));
  for (let made = 0; made < 3; made++) tries.next();
  tries.broke("t1", answer("t1", "so it is"));
  tries.broke("t1", answer("t1", "so"));
  tries.broke("t2", { ...answer("t2"), parts: [] });
  assert.deepEqual(left(tries), WAITS.slice(3));
});

test("the first words of another turn are new, however few", () => {
  const tries = tried();
  tries.broke("t1", answer("t1", "so it is"));
  tries.next();
  tries.broke("t2", answer("t2", "so"));
  assert.deepEqual(left(tries), WAITS.slice(1));
});

test("streams of a turn without a name are one turn, whatever a chat calls their messages", () => {
  const tries = new Tries();
  tries.broke(undefined, answer("a", "so"));
  for (let made = 0; made < 3; made++) tries.next();
  tries.broke(undefined, answer("b", "so"));
  assert.deepEqual(left(tries), WAITS.slice(3));
});

test("a stream that lived for ten seconds was worth its try", () => {
  const tries = tried();
  tries.opened(5_000);
  tries.lives(14_999);
  assert.equal(tries.next(), WAITS[3]);
  tries.lives(15_000);
  assert.deepEqual(left(tries), WAITS);
});
