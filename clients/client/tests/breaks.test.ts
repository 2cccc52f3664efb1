// What becomes of a turn whose connection breaks.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { TurnChangedError } from "../src/index.js";
import { all, answered, begun, breaks, ended, json, prompt, QUICK, refuses, Scripted, streams, user } from "./scripted.js";

let gateway: Scripted;
beforeEach(async () => {
  gateway = await Scripted.start();
});
afterEach(() => gateway.end());

const WHOLE = [...begun("Hello"), ...ended()];

test("an undisturbed turn is passed on as it is", async () => {
  gateway.replies.chat = [streams(WHOLE)];

  assert.deepEqual(await all(await gateway.transport().sendMessages(prompt())), WHOLE);
  assert.deepEqual(gateway.asked.map(({ route }) => route), ["chat"]);
});

test("after a break only what is new is passed on, in the block that is open", async () => {
  gateway.replies.chat = [streams(begun("Hel"), "breaks")];
  gateway.replies.stream = [streams([...begun("Hello, "), { type: "text-delta", id: "turn-1:t0", delta: "you" }, ...ended()])];
  const found = await all(await gateway.transport().sendMessages(prompt()));

  assert.deepEqual(found, [
    ...begun("Hel"),
    { type: "text-delta", id: "turn-1:t0", delta: "lo, " },
    { type: "text-delta", id: "turn-1:t0", delta: "you" },
    ...ended(),
  ]);
  assert.equal(gateway.asked[1]?.url, "/api/sessions/s1/chat/c1/stream");
});

test("a turn that ended meanwhile is read to its end from the history", async () => {
  gateway.replies.chat = [streams(begun("Hel"), "breaks")];
  gateway.history = [user("m1", "Hello"), answered("turn-1", "Hello", { usage: { tokens: 3 } })];
  const found = await all(await gateway.transport().sendMessages(prompt()));

  assert.deepEqual(found, [
    ...begun("Hel"),
    { type: "text-delta", id: "turn-1:t0", delta: "lo" },
    { type: "text-end", id: "turn-1:t0" },
    { type: "finish-step" },
    { type: "finish", messageMetadata: { usage: { tokens: 3 } } },
  ]);
  assert.match(gateway.asked.at(-1)?.url ?? "", /messages\?finish=true$/);
});

for (const [reason, end] of [
  ["canceled", { type: "abort" }],
  ["error", { type: "error", errorText: "Broken" }],
] as const) {
  test(`so is one that ended as ${reason}`, async () => {
    gateway.replies.chat = [streams(begun("Hel"), "breaks")];
    gateway.history = [user("m1", "Hello"), answered("turn-1", "Hel", { finish: { reason, errorText: "Broken" } })];
    const found = await all(await gateway.transport().sendMessages(prompt()));

    assert.deepEqual(found.slice(-2), [end, { type: "finish" }]);
  });
}

test("a stream of another turn is not mixed in", async () => {
  gateway.replies.chat = [streams(begun("Hel"), "breaks")];
  gateway.replies.stream = [streams(begun("Other", "turn-2"), "stays")];
  gateway.history = [user("m1", "Hello"), answered("turn-1", "Hello"), user("m2", "More")];
  const found = await all(await gateway.transport().sendMessages(prompt()));

  assert.doesNotMatch(JSON.stringify(found), /Other/);
  assert.deepEqual(found.at(-1), { type: "finish" });
});

test("a text that is another than before is an error, and not appended", async () => {
  gateway.replies.chat = [streams(begun("Hel"), "breaks")];
  gateway.replies.stream = [streams([...begun("Good morning"), ...ended()])];
  await assert.rejects(all(await gateway.transport().sendMessages(prompt())), TurnChangedError);
});

test("so is a history that has less than was read", async () => {
  gateway.replies.chat = [streams(begun("Hello"), "breaks")];
  gateway.history = [user("m1", "Hello"), answered("turn-1", "Hel")];
  await assert.rejects(all(await gateway.transport().sendMessages(prompt())), TurnChangedError);
});

test("the tries are bounded", async () => {
  gateway.replies.chat = [streams(begun("Hel"), "breaks")];
  gateway.replies.stream = [breaks];
  await assert.rejects(all(await gateway.transport().sendMessages(prompt())), { code: "connection_lost" });

  assert.equal(gateway.times("stream"), 4);
});

test("a stream that brings nothing new each time is asked for a bounded number of times", async () => {
  gateway.replies.chat = [streams(begun("Hel"), "breaks")];
  const status = { type: "data-agent-status", data: { status: "thinking" }, transient: true } as const;
  gateway.replies.stream = [streams([...begun("Hel"), { type: "message-metadata", messageMetadata: {} }, status], "breaks")];
  await assert.rejects(all(await gateway.transport().sendMessages(prompt())), { code: "connection_lost" });

  assert.equal(gateway.times("stream"), 4);
});

test("one that lives for a while each time is asked for again and again: a turn may bring nothing new for long", async () => {
  gateway.replies.chat = [streams(begun("Hel"), "breaks")];
  let times = 0;
  gateway.replies.stream = [
    (response, asked) => {
      if (++times > 12) return streams(WHOLE)(response, asked);
      void streams(begun("Hel"), "stays")(response, asked);
      setTimeout(() => response.write(": keepalive\n\n"), 40);
      return setTimeout(() => response.destroy(), 60);
    },
  ];
  const transport = gateway.transport({ limits: { ...QUICK, livesMs: 30 } });

  assert.deepEqual((await all(await transport.sendMessages(prompt()))).at(-1), { type: "finish" });
});

test("one that brings something new each time is asked for again and again", async () => {
  gateway.replies.chat = [streams(begun("1"), "breaks")];
  gateway.replies.stream = [2, 3, 4, 5, 6, 7, 8].map((most) => streams(begun("12345678".slice(0, most)), most === 8 ? "done" : "breaks"));
  gateway.replies.stream.push(streams([...begun("12345678"), ...ended()]));
  const found = await all(await gateway.transport().sendMessages(prompt()));

  assert.equal(found.map((chunk) => (chunk.type === "text-delta" ? chunk.delta : "")).join(""), "12345678");
});

test("a line that breaks before the answer begins: the prompt is not sent again, and its answer is found", async () => {
  gateway.replies.chat = [breaks];
  gateway.replies.messages = [(response) => json(response, 200, []), (response) => json(response, 200, [user("m1", "Hello")])];
  gateway.replies.stream = [streams(WHOLE)];
  const transport = gateway.transport();

  assert.deepEqual(await all(await transport.sendMessages(prompt())), WHOLE);
  assert.equal(gateway.times("chat"), 1);
  assert.deepEqual(transport.session().unsent.list(), []);
});

test("a prompt that the agent does not have is an error, and is kept", async () => {
  gateway.replies.chat = [breaks];
  const transport = gateway.transport();
  await assert.rejects(all(await transport.sendMessages(prompt())), { code: "not_sent" });

  assert.equal(gateway.times("chat"), 1);
  assert.deepEqual(transport.session().unsent.list().map(({ message }) => message.id), ["m1"]);
});

for (const words of ["Gateway restarting", "Stream interrupted", "The token has expired"]) {
  test(`"${words}" is no end of the turn: what closed the message is not passed on`, async () => {
    const call = { toolCallId: "call-1", providerExecuted: true };
    const calling = [...begun("Hel"), { type: "tool-input-available", toolName: "t", input: {}, ...call }] as const;
    gateway.replies.chat = [
      streams([
        ...calling,
        { type: "text-end", id: "turn-1:t0" },
        { type: "tool-output-error", errorText: "No result", ...call },
        { type: "finish-step" },
        { type: "error", errorText: words },
        { type: "finish" },
      ]),
    ];
    gateway.replies.stream = [streams([...calling, { type: "tool-output-available", output: 1, ...call }, ...ended()])];
    const found = await all(await gateway.transport().sendMessages(prompt()));

    assert.deepEqual(found.slice(calling.length).map(({ type }) => type), ["text-end", "tool-output-available", "finish-step", "finish"]);
  });
}

test("what the gateway stated is the end where nobody has the rest", async () => {
  gateway.replies.chat = [streams([...begun("Hel"), { type: "error", errorText: "Stream interrupted" }, { type: "finish" }])];
  gateway.history = [user("m1", "Hello")];
  const found = await all(await gateway.transport().sendMessages(prompt()));

  assert.deepEqual(found.slice(-2), [{ type: "error", errorText: "Stream interrupted" }, { type: "finish" }]);
});

test("a gateway that is busy is asked again, and one that refuses is not", async () => {
  gateway.replies.chat = [streams(begun("Hel"), "breaks")];
  gateway.replies.stream = [refuses(503, "unavailable"), refuses(404, "not_found")];
  await assert.rejects(all(await gateway.transport().sendMessages(prompt())), { code: "not_found", status: 404 });

  assert.equal(gateway.times("stream"), 2);
});

test("one that asks for more patience than there is is not waited for", async () => {
  gateway.replies.stream = [refuses(429, "too_many_streams", { "retry-after": "60" })];
  await assert.rejects(gateway.transport().reconnectToStream({ chatId: "c1" }), { code: "too_many_streams", retryAfter: 60 });

  assert.equal(gateway.times("stream"), 1);
});

test("a stream that falls silent is broken", async () => {
  gateway.replies.chat = [streams(begun("Hel"), "stays")];
  gateway.replies.stream = [streams(WHOLE)];
  const transport = gateway.transport({ limits: { waitsMs: [0], silenceMs: 50 } });

  assert.deepEqual((await all(await transport.sendMessages(prompt()))).at(-1), { type: "finish" });
});

test("a page that is loaded in mid-turn: 204 is null, and a stream that breaks is gone on with", async () => {
  const transport = gateway.transport();
  assert.equal(await transport.reconnectToStream({ chatId: "a chat/1" }), null);
  assert.equal(gateway.asked[0]?.url, "/api/sessions/s1/chat/a%20chat%2F1/stream");

  gateway.replies.stream = [streams(begun("Hel"), "breaks"), streams(WHOLE)];
  const found = await all(await transport.reconnectToStream({ chatId: "c1" }));
  assert.equal(found.map((chunk) => (chunk.type === "text-delta" ? chunk.delta : "")).join(""), "Hello");
  assert.equal(found.filter(({ type }) => type === "start").length, 1);
});
