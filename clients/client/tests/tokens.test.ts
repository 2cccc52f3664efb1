// Tokens that are refused.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { type TransportOptions, turnwireTransport } from "../src/index.js";
import { all, begun, ended, json, prompt, QUICK, refuses, Scripted, streams, user } from "./scripted.js";

let gateway: Scripted;
beforeEach(async () => {
  gateway = await Scripted.start();
});
afterEach(() => gateway.end());

const WHOLE = [...begun("Hello"), ...ended()];
const sent = () => gateway.asked.map(({ headers }) => headers.authorization);

/** Tokens named by their number, and how each was asked for. */
function counted() {
  const asked: boolean[] = [];
  const token = ({ refresh }: { refresh: boolean }) => `t${asked.push(refresh)}`;
  return { asked, token };
}

test("a text is sent as it is, and not again", async () => {
  gateway.replies.chat = [refuses(401, "unauthorized")];
  await assert.rejects(gateway.transport({ token: "fixed" }).sendMessages(prompt()), { status: 401, code: "unauthorized" });

  assert.deepEqual(sent(), ["Bearer fixed"]);
});

test("a function is asked once, and again after a 401", async () => {
  const { asked, token } = counted();
  gateway.replies.chat = [refuses(401, "unauthorized"), streams(WHOLE)];
  const transport = gateway.transport({ token });
  assert.deepEqual(await all(await transport.sendMessages(prompt())), WHOLE);
  await transport.session().history();

  assert.deepEqual(asked, [false, true]);
  assert.deepEqual(sent(), ["Bearer t1", "Bearer t2", "Bearer t2"]);
});

test("what is refused twice is an error, and no loop", async () => {
  const { asked, token } = counted();
  gateway.replies.chat = [refuses(401, "unauthorized")];
  await assert.rejects(gateway.transport({ token }).sendMessages(prompt()), { status: 401 });

  assert.deepEqual(asked, [false, true]);
  assert.equal(gateway.times("chat"), 2);
});

test("requests that wait for a fresh token share it", async () => {
  const { asked, token } = counted();
  gateway.replies.messages = [(response, { headers }) => json(response, headers.authorization === "Bearer t1" ? 401 : 200, [])];
  const session = gateway.transport({ token }).session();
  await Promise.all([session.history(), session.history(), session.history()]);

  assert.deepEqual(asked, [false, true]);
});

test("a token that expires in mid-turn is replaced when the stream is asked for again", async () => {
  const { asked, token } = counted();
  gateway.replies.chat = [streams([...begun("Hel"), { type: "error", errorText: "The token has expired" }])];
  gateway.replies.stream = [refuses(401, "unauthorized"), streams(WHOLE)];
  const found = await all(await gateway.transport({ token }).sendMessages(prompt()));

  assert.deepEqual(found.at(-1), { type: "finish" });
  assert.deepEqual(asked, [false, true]);
});

test("one that no header may have is not sent, and is in no error", async () => {
  const transport = gateway.transport({ token: () => "canary\r\nx: y" });
  await assert.rejects(transport.sendMessages(prompt(user("m1", "Hi"))), (error: Error & { code: string }) => {
    return error.code === "no_token" && !JSON.stringify([error.message, String(error.cause)]).includes("canary");
  });

  assert.deepEqual(gateway.asked, []);
});

test("a function that fails is asked again by the next request", async () => {
  let fails = true;
  const token = () => (fails ? Promise.reject(new Error("Signed out")) : "t1");
  const transport = gateway.transport({ token });
  await assert.rejects(transport.session().history(), { code: "no_token" });
  fails = false;

  assert.deepEqual(await transport.session().history(), []);
});

test("a function that never answers holds a request for as long as it may take, and is asked again", async () => {
  let isStuck = true;
  const token = () => (isStuck ? new Promise<string>(() => {}) : "t1");
  const session = gateway.transport({ token, limits: { replyMs: 20 } }).session();
  await assert.rejects(session.history(), { name: "TimeoutError" });
  isStuck = false;

  assert.deepEqual(await session.history(), []);
});

test("after another user has signed in, the token of the former one is not sent", async () => {
  const { asked, token } = counted();
  const transport = gateway.transport({ token });
  await transport.session().history();
  transport.forgetToken();
  await transport.session().history();

  assert.deepEqual(asked, [false, false]);
  assert.deepEqual(sent(), ["Bearer t1", "Bearer t2"]);
});

test("a token goes to the gateway that the transport was made for, though its options change", async (context) => {
  const other = await Scripted.start();
  context.after(() => other.end());
  const options: TransportOptions = { url: gateway.url, token: () => "t1", sessionId: (id) => id, limits: QUICK };
  const transport = turnwireTransport(options);
  await transport.session("s1").history();
  options.url = other.url;
  await transport.session("s2").history();

  assert.deepEqual(other.asked, []);
  assert.deepEqual(gateway.asked.map(({ url }) => url), ["/api/sessions/s1/messages", "/api/sessions/s2/messages"]);
});
