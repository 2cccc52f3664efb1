// Whose answer it is, where an agent keeps no ids of its clients' prompts.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import type { UIMessage } from "ai";

import { all, answered, breaks, json, prompt, Scripted, user } from "./scripted.js";

let gateway: Scripted;
beforeEach(async () => {
  gateway = await Scripted.start();
  gateway.replies.chat = [breaks];
});
afterEach(() => gateway.end());

const textOf = (chunks: Awaited<ReturnType<typeof all>>) => chunks.map((each) => (each.type === "text-delta" ? each.delta : "")).join("");
const OTHERS = [user("its-2", "What else?"), answered("turn-2", "Nothing else")];

test("the answer is the one behind the prompt, and not the newest", async () => {
  gateway.history = [user("its-1", "Hello"), answered("turn-1", "Hello to you"), ...OTHERS];

  assert.equal(textOf(await all(await gateway.transport().sendMessages(prompt()))), "Hello to you");
});

test("so it is behind what stood before the prompt", async () => {
  const before = [user("its-0", "Hello"), answered("turn-0", "The first hello")];
  gateway.history = [...before, user("its-1", "Hello"), answered("turn-1", "The second hello"), ...OTHERS];
  const sent = { ...prompt(), messages: [...before, user("m1", "Hello")] };

  assert.equal(textOf(await all(await gateway.transport().sendMessages(sent))), "The second hello");
});

test("where the history does not say which one it is, none is taken", async () => {
  const transport = gateway.transport();
  const { unsent } = transport.session();
  // Another tab has found the prompt; by now the history begins behind it.
  gateway.replies.messages = [
    (response) => {
      unsent.remove("m1");
      json(response, 200, OTHERS satisfies UIMessage[]);
    },
  ];

  await assert.rejects(all(await transport.sendMessages(prompt())), { code: "turn_lost" });
});
