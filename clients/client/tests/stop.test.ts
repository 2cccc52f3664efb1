// What ends a turn, and what does not.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { Chat } from "@ai-sdk/react";

import { all, begun, ended, json, prompt, Scripted, streams, user } from "./scripted.js";
import { textOf } from "./shown.js";
import { until } from "./stage.js";

let gateway: Scripted;
beforeEach(async () => {
  gateway = await Scripted.start();
});
afterEach(() => gateway.end());

const stops = () => gateway.asked.filter(({ route }) => route === "stop").map(({ body }) => body);

test("a stop is sent with the id of the turn, and then the connection is closed", async () => {
  let isClosed = false;
  let wasClosed = true;
  gateway.replies.chat = [
    (response, asked) => {
      response.on("close", () => (isClosed = true));
      return streams(begun("Hel"), "stays")(response, asked);
    },
  ];
  gateway.replies.stop = [
    (response) => {
      wasClosed = isClosed;
      json(response, 200, { stopped: true });
    },
  ];
  const transport = gateway.transport();
  const user = new AbortController();
  const reader = (await transport.sendMessages(prompt(undefined, user.signal))).getReader();
  await reader.read();
  user.abort();
  await assert.rejects(reader.read(), { name: "AbortError" });
  assert.equal(transport.getState().stopping, true);
  await transport.settled();
  await until(() => isClosed);

  assert.deepEqual(stops(), [{ turnId: "turn-1" }]);
  assert.equal(wasClosed, false);
  assert.deepEqual(transport.getState(), { line: "idle", stopping: false });
});

test("before the answer begins, its id is waited for", async () => {
  const later = (response: Parameters<(typeof gateway.replies.chat)[0]>[0]) => {
    response.writeHead(200).write(": keepalive\n\n");
    setTimeout(() => response.write(`data: ${JSON.stringify(begun("")[0])}\n\n`), 50);
  };
  gateway.replies.chat = [later];
  const transport = gateway.transport();
  const user = new AbortController();
  await transport.sendMessages(prompt(undefined, user.signal));
  user.abort();
  await transport.settled();

  assert.deepEqual(stops(), [{ turnId: "turn-1" }]);
});

test("where it does not come, what runs is stopped; but not while the prompt waits behind another turn", async () => {
  const status = (name: string) => ({ type: "data-agent-status", data: { status: name }, transient: true }) as const;
  for (const [name, expected] of [
    ["thinking", [{}]],
    ["queued", [{}]],
  ] as const) {
    gateway.replies.chat = [streams([status(name)], "stays")];
    const transport = gateway.transport();
    const user = new AbortController();
    await transport.sendMessages(prompt(undefined, user.signal));
    user.abort();
    await transport.settled();
    assert.deepEqual(stops(), expected);
  }
});

test("where the turn ends before it has an id, or the gateway does not answer, nothing is stopped: another turn may run", async () => {
  const error = [{ type: "start" }, { type: "error", errorText: "Connection failed" }, { type: "finish" }] as const;
  for (const reply of [streams(error), () => {}]) {
    gateway.replies.chat = [reply];
    const { length } = gateway.asked;
    const transport = gateway.transport();
    const user = new AbortController();
    const sent = transport.sendMessages(prompt(undefined, user.signal)).catch(() => {});
    await until(() => gateway.asked.length > length);
    // With the first reply the stream is open.
    await Promise.race([sent, new Promise((resolve) => setTimeout(resolve, 50))]);
    user.abort();
    await transport.settled();
    assert.deepEqual(stops(), []);
  }
});

for (const onDisconnect of ["continue", "abort"] as const) {
  test(`a prompt that waits behind another turn is stopped when it begins, unless a hang-up ends it: ${onDisconnect}`, async () => {
    let begin = () => {};
    let isClosed = false;
    gateway.replies.chat = [
      (response, asked) => {
        response.on("close", () => (isClosed = true));
        begin = () => response.write(`data: ${JSON.stringify(begun("")[0])}\n\n`);
        const queued = { type: "data-agent-status", data: { status: "queued" }, transient: true } as const;
        return streams([queued], "stays")(response, asked);
      },
    ];
    const transport = gateway.transport({ onDisconnect, limits: { stopMs: 50 } });
    const user = new AbortController();
    await transport.sendMessages(prompt(undefined, user.signal));
    user.abort();
    // The next prompt does not wait for that.
    await transport.settled();
    assert.deepEqual(stops(), []);
    if (onDisconnect === "continue") begin();
    await until(() => isClosed);

    assert.deepEqual(stops(), onDisconnect === "continue" ? [{ turnId: "turn-1" }] : []);
  });
}

test("the next prompt waits until the stop is over", async () => {
  gateway.replies.chat = [streams(begun("Hel"), "stays"), streams([...begun("Hello", "turn-2"), ...ended("turn-2")])];
  gateway.replies.stop = [(response) => setTimeout(json, 100, response, 200, { stopped: true })];
  const transport = gateway.transport();
  const stopping = new AbortController();
  const reader = (await transport.sendMessages(prompt(undefined, stopping.signal))).getReader();
  await reader.read();
  stopping.abort();
  await transport.sendMessages(prompt(user("m2", "More")));

  assert.deepEqual(gateway.asked.map(({ route }) => route), ["chat", "stop", "chat"]);
  assert.equal(transport.getState().stopping, false);
});

test("nor is a look that takes the place of another: the chat aborts the former one", async () => {
  gateway.replies.stream = [streams(begun("Hel"), "stays"), streams([...begun("Hello"), ...ended()])];
  const transport = gateway.transport();
  const chat = new Chat({ id: "c1", transport });
  // As `resume: true` does in React's StrictMode.
  const first = chat.resumeStream();
  await until(() => chat.status === "streaming");
  await chat.resumeStream();
  await first;
  await transport.settled();

  assert.deepEqual(stops(), []);
  assert.equal(textOf(chat), "Hello");
});

test("to leave is no stop", async () => {
  gateway.replies.chat = [streams(begun("Hel"), "stays")];
  const transport = gateway.transport();
  const reader = (await transport.sendMessages(prompt(undefined, new AbortController().signal))).getReader();
  await reader.read();
  transport.leave();
  await assert.rejects(reader.read(), { name: "AbortError" });
  await transport.settled();

  assert.deepEqual(stops(), []);
});

test("nor is an abort where the app wants none", async () => {
  gateway.replies.chat = [streams(begun("Hel"), "stays")];
  const transport = gateway.transport({ stopsTurns: false });
  const user = new AbortController();
  await transport.sendMessages(prompt(undefined, user.signal));
  user.abort();
  await transport.settled();

  assert.deepEqual(stops(), []);
});

test("a signal that is aborted when its turn is over does nothing", async () => {
  gateway.replies.chat = [streams([...begun("Hello"), ...ended()])];
  const transport = gateway.transport();
  const user = new AbortController();
  await all(await transport.sendMessages(prompt(undefined, user.signal)));
  user.abort();
  await transport.settled();

  assert.deepEqual(stops(), []);
});

test("an answer is sent once for two clicks, and again where the agent asks again", async () => {
  const question = { type: "data-question", id: "q1", data: { questionId: "q1", state: "open" } } as const;
  const transport = gateway.transport();
  const session = transport.session();
  await Promise.all([session.answer("q1", "tea", { approvalId: "a1" }), session.answer("q1", "tea")]);
  await session.answer("q1", "tea");
  assert.deepEqual(gateway.asked.map(({ body }) => body), [{ questionId: "q1", answer: "tea", approvalId: "a1" }]);

  gateway.replies.chat = [streams([...begun("Hel"), question, ...ended()])];
  await all(await transport.sendMessages(prompt()));
  await session.answer("q1", "coffee");
  assert.equal(gateway.times("answer"), 2);
});

test("options go along with each request", async () => {
  gateway.replies.chat = [streams([...begun("Hello"), ...ended()])];
  const transport = gateway.transport({
    query: { threadId: "t1" },
    headers: { "x-app": "a" },
    profile: "7",
    onDisconnect: "continue",
    sessionId: (chatId) => `of/${chatId}`,
  });
  await all(await transport.sendMessages({ ...prompt(), messages: [user("m0", "Hi"), user("m1", "Hello")] }));
  await transport.session("c1").history({ limit: 5 });

  assert.deepEqual(gateway.asked.map(({ url }) => url), [
    "/api/sessions/of%2Fc1/chat?threadId=t1&onDisconnect=continue",
    "/api/sessions/of%2Fc1/messages?threadId=t1&limit=5",
  ]);
  assert.ok(gateway.asked.every(({ headers }) => headers["x-app"] === "a" && headers["x-turnwire-profile"] === "7"));
  assert.deepEqual(gateway.asked[0]?.body, { id: "c1", messages: [user("m1", "Hello")], trigger: "submit-message" });
});
