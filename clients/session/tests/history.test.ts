// The conversation of an agent that states no history: this client has it, and sends it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type { UIMessage } from "ai";

import type { Memory } from "../src/index.js";
import { answer, begun, clock, opened, refusal, Scripted, settled, stream, textsOf, until, user, whole, written } from "./scripted.js";

before(() => clock.start());
after(() => clock.stop());

/** A browser's memory: what is read was written as text. */
class Shared implements Memory {
  text = "[]";

  read(): UIMessage[] {
    return JSON.parse(this.text) as UIMessage[];
  }
  write(messages: readonly UIMessage[]): void {
    this.text = JSON.stringify(messages);
  }
}

/** A gateway before an agent without a history. */
function without(...kept: UIMessage[]): [Scripted, Shared] {
  const [gateway, memory] = [new Scripted(), new Shared()];
  memory.write(kept);
  gateway.replies.messages = () => refusal("not_supported", 501);
  return [gateway, memory];
}

const sent = (gateway: Scripted) => gateway.bodies("chat").map((body) => textsOf(body["messages"] as UIMessage[]));

test("each prompt goes out with all that was said before, where the agent states no history", async () => {
  const [gateway] = without();
  const session = await opened(gateway);
  gateway.replies.chat = () => stream(whole("t1", "one"));
  await session.send({ text: "first" });
  gateway.replies.chat = () => stream(whole("t2", "two"));
  await session.send({ text: "second" });
  assert.deepEqual(sent(gateway), [["first"], ["first", "one", "second"]]);
});

test("where it does, only the prompt goes out", async () => {
  const gateway = new Scripted();
  gateway.history = [user("u0", "hello"), answer("t0")];
  const session = await opened(gateway, { memory: new Shared() });
  gateway.replies.chat = () => stream(whole("t1"));
  await session.send({ text: "first" });
  assert.deepEqual(sent(gateway), [["first"]]);
});

test("what was said is there after a reload, and the agent is asked for it once", async () => {
  const [gateway, memory] = without();
  gateway.replies.chat = () => stream(whole("t1", "one"));
  await (await opened(gateway, { memory })).send({ text: "first" });
  const session = await opened(gateway, { memory });
  session.look();
  await settled();
  assert.deepEqual(textsOf(session.getState().messages), ["first", "one"]);
  assert.equal(gateway.times("messages"), 2); // once for each of the two
  assert.equal(session.getState().notice, null);
});

test("a turn that runs is followed behind its prompt", async () => {
  const [gateway, memory] = without();
  const { response, write } = written();
  gateway.replies.chat = () => response;
  const left = await opened(gateway, { memory });
  void left.send({ text: "first" });
  write(...begun("t1", "half"));
  await until(() => left.getState().status === "streaming");
  gateway.replies.stream = () => stream(whole("t1", "half and half"));
  const session = await opened(gateway, { memory });
  await until(() => session.getState().status === "ready" && session.getState().messages.length === 2);
  assert.deepEqual(textsOf(session.getState().messages), ["first", "half and half"]);
  assert.deepEqual(textsOf(memory.read()), ["first", "half and half"]);
});

test("an answer that broke off is kept, and its turn is found to be over", async () => {
  const [gateway, memory] = without();
  const end = [{ type: "text-end", id: "t1:t0" }, { type: "error", errorText: "Stream interrupted" }, { type: "finish" }] as const;
  gateway.replies.chat = () => stream([...begun("t1", "half"), ...end]);
  const session = await opened(gateway, { memory });
  await session.send({ text: "first" });
  await until(() => session.getState().notice?.automatic === false);
  assert.equal(session.getState().notice?.code, "agent_hung_up");
  assert.deepEqual(textsOf(session.getState().messages), ["first", "half"]);
  assert.deepEqual(textsOf(memory.read()), ["first", "half"]);
});

test("a prompt without an answer and without a turn is found to be unanswered", async () => {
  const [gateway, memory] = without(user("u1", "first"));
  const session = await opened(gateway, { memory });
  assert.equal(session.getState().notice?.code, "unanswered");
});

test("where the memory has less than before, the agent is not said to have forgotten it", async () => {
  const [gateway, memory] = without(user("u1", "first"), answer("t1"), user("u2", "second"), answer("t2"));
  const session = await opened(gateway, { memory });
  memory.write([user("u1", "first")]);
  session.look();
  await until(() => session.getState().messages.length === 1);
  assert.equal(session.getState().notice?.code, "unanswered");
});

test("what another client of the same memory went on with is shown", async () => {
  const [gateway, memory] = without(user("u1", "first"), answer("t1", "one"));
  const session = await opened(gateway, { memory });
  session.look();
  await settled();
  assert.equal(gateway.times("stream"), 1); // nothing new: nothing was asked
  memory.write([...memory.read(), user("u2", "second"), answer("t2", "two")]);
  session.look();
  await until(() => session.getState().messages.length === 4);
  assert.deepEqual(textsOf(session.getState().messages), ["first", "one", "second", "two"]);
  assert.equal(session.getState().notice, null);
});

test("a prompt that went out before it was known who keeps the history stands behind what was kept", async () => {
  const [gateway, memory] = without(user("u1", "first"), answer("t1", "one"));
  gateway.replies.messages = () => refusal("unavailable", 503);
  const session = gateway.session({ memory });
  gateway.replies.chat = () => stream(whole("t2", "two"));
  const sending = session.send({ text: "second" });
  gateway.replies.messages = () => refusal("not_supported", 501);
  await sending;
  await until(() => session.known && session.getState().messages.length === 4);
  assert.deepEqual(textsOf(session.getState().messages), ["first", "one", "second", "two"]);
});

test("a turn that asked and was stopped asks no more after a reload", async () => {
  const [gateway, memory] = without();
  gateway.replies.chat = () =>
    stream([
      { type: "start", messageId: "t1" },
      { type: "tool-input-available", toolCallId: "c1", toolName: "sum", input: {}, dynamic: true },
      { type: "tool-approval-request", toolCallId: "c1", approvalId: "ap1" },
      { type: "finish" },
    ]);
  const session = await opened(gateway, { memory, nativeApprovals: true });
  await session.send({ text: "may I?" });
  const asks = gateway.times("stream");
  session.look();
  await settled();
  assert.equal(gateway.times("stream"), asks); // what is open here is no news
  assert.equal((await opened(gateway, { memory, nativeApprovals: true })).asking, true);
  await session.stop();
  assert.equal((await opened(gateway, { memory, nativeApprovals: true })).asking, false);
});
