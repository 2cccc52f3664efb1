// Prompts that did not get there are sent again once, and not twice.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import type { UIMessage } from "ai";

import { sendAgain, type StoragePort, type TransportOptions } from "../src/index.js";
import { memory } from "./memory.js";
import { all, answered, begun, breaks, ended, json, prompt, refuses, Scripted, streams, user } from "./scripted.js";

let gateway: Scripted;
beforeEach(async () => {
  gateway = await Scripted.start();
});
afterEach(() => gateway.end());

const WHOLE = [...begun("Hello"), ...ended()];

/** A page with this storage: a transport, and a chat that sends as that of the SDK does. */
function page(storage: StoragePort) {
  const transport = gateway.transport({ storage });
  const session = transport.session();
  const chat = {
    messages: [] as UIMessage[],
    sendMessage: async (message: UIMessage) => {
      chat.messages = [...chat.messages, message];
      await all(await transport.sendMessages({ ...prompt(), messages: chat.messages }));
    },
  };
  const ids = () => session.unsent.list().map(({ message }) => message.id);
  return { session, chat, ids };
}

test("a prompt is kept until its turn begins", async () => {
  const storage = memory();
  gateway.replies.chat = [streams(WHOLE)];
  const transport = gateway.transport({ storage });
  const stream = await transport.sendMessages(prompt());
  assert.deepEqual([...storage.all.keys()], [`turnwire:unsent:${encodeURIComponent(gateway.url)}::s1`]);
  await all(stream);

  assert.deepEqual([...storage.all.keys()], []);
});

for (const [name, reply, code] of [
  ["that refuses it does not have", refuses(429, "too_many_turns"), "too_many_turns"],
  ["that cannot be reached does not have", breaks, "not_sent"],
  ["whose agent is not reached does not have", streams([{ type: "start" }, { type: "error", errorText: "Connection failed" }, { type: "finish" }]), null],
] as const) {
  test(`a prompt that a gateway ${name} is kept after a reload, and is sent again once`, async () => {
    const storage = memory();
    gateway.replies.chat = [reply, streams(WHOLE)];
    const before = page(storage);
    await before.chat.sendMessage(user("m1", "Hello")).catch(() => {});

    const [one, other] = [page(storage), page(storage)];
    assert.deepEqual(one.ids(), ["m1"]);
    assert.equal(one.session.unsent.list()[0]?.code, code);
    assert.deepEqual(await Promise.all([sendAgain(one.session, one.chat, "m1"), sendAgain(other.session, other.chat, "m1")]), [true, false]);
    assert.deepEqual(one.ids(), []);
    assert.equal(gateway.times("chat"), 2);
    assert.deepEqual(gateway.asked.findLast(({ route }) => route === "chat")?.body, {
      id: "c1",
      messages: [user("m1", "Hello")],
      trigger: "submit-message",
    });
  });
}

test("one that the agent has is not sent again, and its answer is shown", async () => {
  const storage = memory();
  gateway.replies.chat = [breaks];
  await page(storage).chat.sendMessage(user("m1", "Hello")).catch(() => {});
  gateway.history = [user("m1", "Hello"), answered("turn-1", "Hello")];
  const { session, chat, ids } = page(storage);

  assert.equal(await sendAgain(session, chat, "m1"), false);
  assert.equal(gateway.times("chat"), 1);
  assert.deepEqual(chat.messages.map(({ id }) => id), ["m1", "turn-1"]);
  assert.deepEqual(ids(), []);
});

test("it is known by its text where the agent keeps no ids, behind what stood before it", async () => {
  const storage = memory();
  gateway.replies.chat = [breaks];
  const { session, chat, ids } = page(storage);
  chat.messages = [user("m0", "Hello"), answered("turn-0", "Hi")];
  await chat.sendMessage(user("m1", "Hello")).catch(() => {});
  gateway.history = [user("m0", "Hello"), answered("turn-0", "Hi")];
  await session.history();
  assert.deepEqual(ids(), ["m1"]);

  gateway.history.push(user("its-own", "Hello"));
  await session.history();
  assert.deepEqual(ids(), []);
});

test("an older message with the same text is not it", async () => {
  gateway.replies.chat = [breaks];
  const { session, chat, ids } = page(memory());
  chat.messages = [user("m0", "Hi"), answered("turn-0", "Hi")];
  await chat.sendMessage(user("m1", "Hello")).catch(() => {});
  gateway.history = [user("its-own", "Hello"), answered("its-answer", "Hi")];
  await session.history();

  assert.deepEqual(ids(), ["m1"]);
});

test("one that is in doubt is not sent: nobody says whether the agent has it", async () => {
  const storage = memory();
  gateway.replies.chat = [breaks];
  const { session, chat, ids } = page(storage);
  await chat.sendMessage(user("m1", "Hello")).catch(() => {});
  gateway.replies.messages = [refuses(503, "unavailable")];
  await assert.rejects(sendAgain(session, chat, "m1"), { status: 503 });

  assert.deepEqual(ids(), ["m1"]);
  assert.equal(gateway.times("chat"), 1);
});

test("a storage that is full, or forbidden, does not keep a prompt from being sent", async () => {
  const fails = () => {
    throw new Error("QuotaExceededError");
  };
  const { session, chat, ids } = page({ getItem: fails, setItem: fails, removeItem: fails });
  gateway.replies.chat = [refuses(429, "too_many_turns"), streams(WHOLE)];
  await assert.rejects(chat.sendMessage(user("m1", "Hello")), { status: 429 });
  assert.deepEqual(ids(), ["m1"]);

  assert.equal(await sendAgain(session, chat, "m1"), true);
  assert.deepEqual(ids(), []);
});

test("what is kept is bounded, and what another program wrote there is ignored", () => {
  const storage = memory();
  storage.all.set("turnwire:unsent:s1", '[{"message": 1}, null]');
  const { session, ids } = page(storage);
  assert.deepEqual(ids(), []);
  for (let number = 0; number < 60; number++) session.unsent.keep([user(`m${number}`, "Hello")]);

  assert.equal(ids().length, 50);
  assert.equal(ids().at(-1), "m59");
});

test("what another user of the browser wrote is not shown, nor what was meant for another gateway", () => {
  const storage = memory();
  const list = (options: TransportOptions) => gateway.transport({ storage, ...options }).session().unsent;
  list({ user: "ann" }).keep([user("m1", "Hello")]);

  assert.deepEqual(list({ user: "ann" }).list().map(({ message }) => message.id), ["m1"]);
  for (const other of [{}, { user: "bob" }, { user: "ann", url: "https://other.example" }, { user: "ann", sessionId: "s2" }]) {
    assert.deepEqual(list(other).list(), [], JSON.stringify(other));
  }
});

test("a prompt for which there is no room leaves the others in the storage", () => {
  const storage = memory();
  const roomy = storage.setItem;
  storage.setItem = (key, value) => {
    if (value.length > 2_000) throw new Error("QuotaExceededError");
    roomy(key, value);
  };
  const { session, ids } = page(storage);
  for (const [id, words] of [["m1", "Hi"], ["m2", "x".repeat(3_000)], ["m3", "Hello"]] as const) session.unsent.keep([user(id, words)]);
  assert.deepEqual(ids().toSorted(), ["m1", "m2", "m3"]);

  // Its page is gone.
  assert.deepEqual(page(storage).ids(), ["m1", "m3"]);
});

test("one that a page has for itself is there again when the clock was set back", () => {
  const storage = memory();
  const { session } = page(storage);
  session.unsent.keep([user("m1", "Hello")]);
  assert.equal(session.unsent.take("m1"), null);
  const [key = ""] = storage.all.keys();
  storage.all.set(key, storage.all.get(key)?.replace(/"until":\d+/, `"until":${Date.now() + 3_600_000}`) ?? "");

  assert.equal(session.unsent.take("m1")?.message.id, "m1");
});

test("what has not changed is not read anew", (context) => {
  const { session } = page(memory());
  session.unsent.keep([user("m1", "Hello")]);
  const list = session.unsent.list();
  const { parse } = JSON;
  context.after(() => (JSON.parse = parse));
  let times = 0;
  JSON.parse = (...text) => (times++, parse(...text));

  assert.equal(session.unsent.list(), list);
  assert.equal(times, 0);
});

test("the others stay in the chat when one of them is found in the history", async () => {
  gateway.replies.chat = [breaks];
  const { session, chat } = page(memory());
  for (const id of ["m1", "m2"]) await chat.sendMessage(user(id, `Hello ${id}`)).catch(() => {});
  gateway.history = [user("m1", "Hello m1")];

  assert.equal(await sendAgain(session, chat, "m1"), false);
  assert.deepEqual(chat.messages.map(({ id }) => id), ["m1", "m2"]);
});

test("one that is stopped while it waits for another stop can be sent again at once", async () => {
  gateway.replies.chat = [streams(begun("Hel"), "stays"), streams(WHOLE)];
  gateway.replies.stop = [(response) => setTimeout(json, 50, response, 200, { stopped: true })];
  const transport = gateway.transport();
  const [first, second] = [new AbortController(), new AbortController()];
  await (await transport.sendMessages(prompt(user("m1", "Hello"), first.signal))).getReader().read();
  first.abort();
  const sent = transport.sendMessages(prompt(user("m2", "More"), second.signal));
  second.abort();
  await assert.rejects(sent, { name: "AbortError" });

  assert.equal(gateway.times("chat"), 1);
  assert.equal(transport.session().unsent.take("m2")?.message.id, "m2");
});

test("one that takes long to send is held for all that time, and no longer", async (context) => {
  context.mock.timers.enable({ apis: ["setInterval", "Date"] });
  const storage = memory();
  let answer = () => {};
  gateway.replies.chat = [(response) => void (answer = () => refuses(429, "too_many_turns")(response, {} as never))];
  const sent = page(storage).chat.sendMessage(user("m1", "Hello"));
  while (gateway.times("chat") === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  for (let second = 0; second < 60; second++) context.mock.timers.tick(1_000);
  const other = page(storage).session.unsent;
  assert.equal(other.take("m1"), null);
  answer();
  await assert.rejects(sent, { status: 429 });
  context.mock.timers.tick(60_000);

  assert.equal(other.take("m1")?.message.id, "m1");
});
