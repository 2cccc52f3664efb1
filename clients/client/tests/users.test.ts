// Several people use one browser: a prompt is its author's alone.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { type StoragePort, type TransportOptions, turnwireTransport } from "../src/index.js";
import { Scripted, user } from "./scripted.js";

const kept = new Map<string, string>();
const browser: StoragePort = {
  getItem: (key) => kept.get(key) ?? null,
  setItem: (key, value) => void kept.set(key, value),
  removeItem: (key) => void kept.delete(key),
};

let gateway: Scripted;
beforeEach(async () => {
  gateway = await Scripted.start();
  kept.clear();
  Object.defineProperty(globalThis, "localStorage", { value: browser, configurable: true });
});
afterEach(() => {
  Reflect.deleteProperty(globalThis, "localStorage");
  return gateway.end();
});

/** The unsent prompts of a page that has just been opened. */
function opened(options: TransportOptions) {
  const { unsent } = turnwireTransport({ url: gateway.url, sessionId: "s1", ...options }).session();
  return { unsent, ids: () => unsent.list().map(({ message }) => message.id) };
}

for (const options of [{}, { user: "" }]) {
  test(`where nobody says who is signed in, nothing is left in the browser: ${JSON.stringify(options)}`, () => {
    const page = opened(options);
    page.unsent.keep([user("m1", "A secret")]);

    assert.deepEqual(page.ids(), ["m1"]);
    assert.equal(kept.size, 0);
    assert.deepEqual(opened(options).ids(), []);
  });
}

test("who is signed in has their prompts after a reload, and nobody else has them", () => {
  opened({ user: "ann" }).unsent.keep([user("m1", "A secret")]);

  assert.deepEqual(opened({ user: "ann" }).ids(), ["m1"]);
  assert.deepEqual(opened({ user: "bob" }).ids(), []);
  assert.deepEqual(opened({}).ids(), []);
});

test("after a sign-out the next user has no prompts of the one before", () => {
  const transport = turnwireTransport({ url: gateway.url, sessionId: "s1" });
  const { unsent } = transport.session();
  unsent.keep([user("m1", "A secret")]);
  transport.renewToken();
  assert.equal(unsent.list().length, 1);
  transport.forgetToken();

  assert.deepEqual(unsent.list(), []);
});

test("but who is named has theirs when they come back", () => {
  const transport = turnwireTransport({ url: gateway.url, sessionId: "s1", user: "ann" });
  transport.session().unsent.keep([user("m1", "A secret")]);
  transport.forgetToken();

  assert.deepEqual(opened({ user: "ann" }).ids(), ["m1"]);
});

test("a storage that the app names is used as it is", () => {
  opened({ storage: browser }).unsent.keep([user("m1", "Hello")]);

  assert.equal(kept.size, 1);
  assert.deepEqual(opened({ storage: browser }).ids(), ["m1"]);
});
