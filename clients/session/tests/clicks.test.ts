// What a user does twice, too late, or in the wrong moment.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type { UIMessage, UIMessageChunk } from "ai";

import { answer, begun, clock, opened, over, passes, refusal, refused, Scripted, settled, stream, textsOf, until, user, whole, written } from "./scripted.js";

before(() => clock.start());
after(() => clock.stop());

const APPROVAL: UIMessageChunk[] = [
  { type: "start", messageId: "t1" },
  { type: "tool-input-available", toolCallId: "c1", toolName: "sum", input: {}, dynamic: true },
  { type: "tool-approval-request", toolCallId: "c1", approvalId: "ap1" },
  { type: "finish" },
];

async function asking(): Promise<[Scripted, Awaited<ReturnType<typeof opened>>]> {
  const gateway = new Scripted();
  gateway.replies.chat = () => stream(APPROVAL);
  const session = await opened(gateway, { nativeApprovals: true });
  void session.send({ text: "may I?" });
  await until(() => session.asking);
  return [gateway, session];
}

test("the stop of a turn that waits for an approval names that turn", async () => {
  const [gateway, session] = await asking();
  await session.stop();
  assert.deepEqual(gateway.bodies("stop"), [{ turnId: "t1" }]);
  assert.equal(session.asking, false);
});

test("so it does where the history alone has the approval", async () => {
  const gateway = new Scripted();
  const call = { type: "dynamic-tool", toolName: "sum", toolCallId: "c1", input: {} } as const;
  const waiting = { ...call, state: "approval-requested", approval: { id: "ap1" } } as const;
  gateway.history = [user("u1", "may I?"), { ...answer("t1"), parts: [waiting] }];
  const session = await opened(gateway);
  await session.stop();
  assert.deepEqual(gateway.bodies("stop"), [{ turnId: "t1" }]);
});

test("so does the stop before the next prompt", async () => {
  const [gateway, session] = await asking();
  gateway.replies.chat = () => stream(whole("t2"));
  await session.send({ text: "then not" });
  assert.deepEqual(gateway.bodies("stop"), [{ turnId: "t1" }]);
  assert.deepEqual(textsOf(session.getState().messages), ["may I?", "", "then not", "so"]);
});

test("where another turn runs instead, that is found and shown", async () => {
  const [gateway, session] = await asking();
  gateway.replies.stop = () => refusal("conflict");
  gateway.history = [user("u1", "may I?"), answer("t1", "you were late"), user("u2", "and I?")];
  gateway.replies.stream = () => stream(begun("t2", "yes"), { open: true });
  void session.stop();
  await until(() => textsOf(session.getState().messages).at(-1) === "yes");
  assert.deepEqual(textsOf(session.getState().messages), ["may I?", "you were late", "and I?", "yes"]);
});

test("the stop of a turn that was only followed names that one, and not the one before it", async () => {
  const gateway = new Scripted();
  const { response, write } = written();
  gateway.replies.chat = () => stream(whole("t1"));
  gateway.replies.stop = () => new Promise(() => {});
  const session = await opened(gateway);
  await session.send({ text: "why?" });
  gateway.history = [user("u1", "why?"), answer("t1"), user("u2", "and now?")];
  gateway.replies.stream = () => response;
  session.look();
  await until(() => session.busy && !session.getState().looking);
  void session.stop();
  write(...begun("t2"));
  await until(() => session.getState().status === "streaming");
  void session.stop();
  await settled();
  assert.deepEqual(gateway.bodies("stop"), [{}, { turnId: "t2" }]);
});

test("a turn that is stopped twice is stopped once", async () => {
  const gateway = new Scripted();
  const { response, write, close } = written();
  gateway.replies.chat = () => response;
  gateway.replies.stop = async () => {
    await settled();
    write({ type: "abort" }, { type: "finish" });
    close();
    return Response.json({ stopped: true });
  };
  const session = await opened(gateway);
  void session.send({ text: "why?" });
  write(...begun("t1"));
  await until(() => session.getState().status === "streaming");
  const stops = [session.stop(), session.stop()];
  await over(Promise.all(stops));
  assert.deepEqual(gateway.bodies("stop"), [{ turnId: "t1" }]);
  assert.equal(session.getState().stopping, false);
});

const asked = (state: string): UIMessageChunk => ({ type: "data-question", id: "q1", data: { questionId: "q1", state } });

test("a question is answered once, by the first answer", async () => {
  const gateway = new Scripted();
  const { response, write } = written();
  gateway.replies.chat = () => response;
  const session = await opened(gateway);
  void session.send({ text: "ask me" });
  write(...begun("t1"), asked("open"));
  await until(() => session.getState().agent.status === "asking");
  const both = [session.answer("q1", "tea"), session.answer("q1", "coffee")];
  assert.deepEqual(await Promise.all(both), [true, true]);
  assert.equal(await session.answer("q1", "tea"), true);
  assert.deepEqual(gateway.bodies("answer").map((body) => body["answer"]), ["tea"]);

  // Also when the agent has closed the question.
  write(asked("resolved"));
  await settled();
  assert.equal(await session.answer("q1", "coffee"), true);
  assert.deepEqual(gateway.bodies("answer").map((body) => body["answer"]), ["tea"]);

  // Another question is another, and one that is asked anew can be answered anew.
  assert.equal(await session.answer("q2", "tea"), true);
  write(asked("open"));
  await settled();
  assert.equal(await session.answer("q1", "coffee"), true);
  assert.deepEqual(gateway.bodies("answer").map((body) => body["answer"]), ["tea", "tea", "coffee"]);
});

test("a question that is stated again while its answer is under way is not answered twice", async () => {
  const gateway = new Scripted();
  const { response, write } = written();
  gateway.replies.chat = () => response;
  let reply = (_: Response) => {};
  gateway.replies.answer = () => new Promise((resolve) => (reply = resolve));
  const session = await opened(gateway);
  void session.send({ text: "ask me" });
  write(...begun("t1"), asked("open"));
  await until(() => session.getState().agent.status === "asking");
  const first = session.answer("q1", "tea");
  write(asked("open"));
  await settled();
  const second = session.answer("q1", "coffee");
  assert.equal(gateway.times("answer"), 1);
  reply(new Response(null, { status: 202 }));
  assert.deepEqual(await Promise.all([first, second]), [true, true]);
  assert.deepEqual(gateway.bodies("answer").map((body) => body["answer"]), ["tea"]);
});

test("an answer that was not taken can be given again", async () => {
  const gateway = new Scripted();
  gateway.replies.answer = () => refusal("unavailable", 503);
  const session = await opened(gateway);
  assert.deepEqual(await Promise.all([session.answer("q1", "tea"), session.answer("q1", "tea")]), [false, false]);
  gateway.replies.answer = () => new Response(null, { status: 202 });
  assert.equal(await session.answer("q1", "tea"), true);
  assert.equal(gateway.times("answer"), 2);
});

test("an approval of the SDK's own is answered once", async () => {
  const [gateway, session] = await asking();
  gateway.replies.chat = () => stream([], { open: true });
  void session.chat.addToolApprovalResponse({ id: "ap1", approved: true });
  void session.chat.addToolApprovalResponse({ id: "ap1", approved: false });
  await until(() => gateway.times("chat") === 2);
  await settled();
  assert.equal(gateway.times("chat"), 2);
});

test("prompts that are refused one after the other come back together, in their order", async () => {
  const gateway = new Scripted();
  const { response, write, close } = written();
  gateway.replies.chat = () => response;
  const session = await opened(gateway);
  void session.send({ text: "first" });
  await until(() => session.busy);
  await session.send({ text: "second" });
  await session.send({ parts: [{ type: "text", text: "third" }] });
  const read = session.getState().refused;
  assert.deepEqual(textsOf(read), ["second", "third"]);
  // One that comes between is not taken for one that was read.
  await session.send({ text: "fourth" });
  session.tookBack(read);
  assert.deepEqual(refused(session.getState()), ["fourth"]);

  write(...whole("t1"));
  close();
  await until(() => session.getState().status === "ready");
  assert.equal(gateway.times("chat"), 1);
});

test("one that the gateway refuses as it is does not take the place of another", async () => {
  const gateway = new Scripted();
  gateway.replies.chat = () => refusal("too_large", 413);
  const session = await opened(gateway);
  void session.send({ text: "first" });
  await session.send({ text: "second" });
  await until(() => refused(session.getState()).length === 2);
  assert.deepEqual(refused(session.getState()), ["second", "first"]);
});

test("the files of a refused prompt come back with it", async () => {
  const gateway = new Scripted();
  gateway.replies.chat = () => stream([], { open: true });
  const session = await opened(gateway);
  void session.send({ text: "first" });
  const file = { type: "file", mediaType: "text/plain", url: "data:,so" } as const;
  await session.send({ text: "second", files: [file] });
  await session.send({ files: [file] });
  assert.deepEqual(session.getState().refused.map(({ parts }) => parts), [[file, { type: "text", text: "second" }], [file]]);
});

/** The list of an input, and the part that each of its files becomes. */
function chosen(...texts: string[]) {
  const files = texts.map((text) => new File([text], `${text}.txt`, { type: "text/plain" }));
  class List {
    [Symbol.iterator] = () => files[Symbol.iterator]();
  }
  class Reader {
    onload: ((event: unknown) => void) | null = null;
    readAsDataURL(file: File) {
      void file.text().then((text) => this.onload?.({ target: { result: `data:text/plain;base64,${btoa(text)}` } }));
    }
  }
  Object.assign(globalThis, { FileList: List, FileReader: Reader });
  const parts = texts.map((text) => {
    return { type: "file", mediaType: "text/plain", filename: `${text}.txt`, url: `data:text/plain;base64,${btoa(text)}` };
  });
  return { list: new List() as unknown as FileList, parts, clear: () => (files.length = 0) };
}

test("the files of an input are read before the page clears it, whether the prompt is sent or comes back", async () => {
  const gateway = new Scripted();
  let tell = (_: Response) => {};
  gateway.replies.messages = () => new Promise((resolve) => (tell = resolve));
  gateway.replies.chat = () => stream([], { open: true });
  const session = gateway.session();
  session.open();
  await settled();
  const first = chosen("one", "two");
  void session.send({ text: "look", files: first.list });
  first.clear();
  await settled();
  tell(Response.json([]));
  await until(() => gateway.times("chat") === 1);
  const [sent] = gateway.bodies("chat")[0]!["messages"] as UIMessage[];
  assert.deepEqual(sent!.parts, [...first.parts, { type: "text", text: "look" }]);

  const second = chosen("three");
  const back = session.send({ files: second.list });
  second.clear();
  await over(back);
  assert.deepEqual(session.getState().refused.map(({ parts }) => parts), [second.parts]);
});

test("a prompt that never arrived comes back when another was sent in its place", async () => {
  const gateway = new Scripted();
  gateway.history = [user("u1", "why?"), answer("t1")];
  const session = await opened(gateway);
  gateway.replies.chat = () => Promise.reject(new TypeError("fetch failed"));
  void session.send({ text: "lost" });
  await until(() => session.getState().notice?.code === "not_sent");
  assert.deepEqual(refused(session.getState()), []);

  gateway.replies.chat = ({ messages }) => {
    gateway.history = [...gateway.history, ...(messages as typeof gateway.history), answer("t2")];
    return stream(whole("t2"));
  };
  await session.send({ text: "and now?" });
  await until(() => refused(session.getState()).length > 0);
  assert.deepEqual(refused(session.getState()), ["lost"]);
  assert.deepEqual(textsOf(session.getState().messages), ["why?", "so", "and now?", "so"]);
});

test("one that did arrive, though nobody said so, does not", async () => {
  const gateway = new Scripted();
  const session = await opened(gateway);
  gateway.replies.chat = ({ messages }) => {
    const [message] = messages as typeof gateway.history;
    // This agent has ids of its own.
    gateway.history.push({ ...message!, id: `own-${gateway.history.length}` });
    return gateway.history.length === 1 ? refusal("of tomorrow", 500) : stream(whole("t2"));
  };
  await session.send({ text: "first" });
  await session.send({ text: "second" });
  await until(() => textsOf(session.getState().messages).length === 2);
  assert.deepEqual(refused(session.getState()), []);
});

test("of two that say the same, where one arrived, one comes back", async () => {
  const gateway = new Scripted();
  const session = await opened(gateway);
  gateway.replies.chat = () => Promise.reject(new TypeError("fetch failed"));
  void session.send({ text: "ok" });
  await until(() => session.getState().notice?.code === "not_sent");
  gateway.replies.chat = ({ messages }) => {
    gateway.history = [{ ...(messages as typeof gateway.history)[0]!, id: "own-1" }, answer("t1")];
    return stream(whole("t1"));
  };
  await session.send({ text: "ok" });
  await until(() => refused(session.getState()).length > 0);
  assert.deepEqual(refused(session.getState()), ["ok"]);
  assert.deepEqual(textsOf(session.getState().messages), ["ok", "so"]);
});

test("one that the gateway refused as it is comes back alone, where one before it that says the same arrived", async () => {
  const gateway = new Scripted();
  const session = await opened(gateway);
  gateway.replies.chat = ({ messages }) => {
    gateway.history = [{ ...(messages as typeof gateway.history)[0]!, id: "own-1" }];
    return refusal("of tomorrow", 500);
  };
  await session.send({ text: "ok" });
  gateway.replies.chat = () => refusal("too_large", 413);
  await session.send({ text: "ok" });
  gateway.replies.chat = ({ messages }) => {
    gateway.history = [...gateway.history, { ...(messages as typeof gateway.history)[0]!, id: "own-2" }, answer("t2")];
    return stream(whole("t2"));
  };
  await session.send({ text: "and now?" });
  await until(() => textsOf(session.getState().messages).length === 3);
  assert.deepEqual(refused(session.getState()), ["ok"]);
});

test("a session that has ended sends nothing, and a prompt for it comes back", async () => {
  const gateway = new Scripted();
  gateway.history = [user("u1", "why?"), answer("t1")];
  const session = await opened(gateway);
  const before = gateway.asked.length;
  session.end();
  await session.send({ text: "too late" });
  assert.equal(await session.answer("q1", "tea"), false);
  assert.equal(await session.begin(() => assert.fail()), false);
  session.open();
  session.retry();
  session.reconnect();
  session.back();
  session.look(true);
  await session.stop();
  void session.chat.sendMessage({ text: "behind its back" });
  void session.chat.resumeStream();
  await passes(20_000);
  assert.deepEqual([gateway.asked.length, refused(session.getState())], [before, ["too late"]]);
  assert.equal(session.getState().notice, null);
});

test("nor does one that ends while a prompt waits", async () => {
  const gateway = new Scripted();
  gateway.replies.messages = () => new Promise(() => {});
  const session = gateway.session();
  session.open();
  const sent = session.send({ text: "too late" });
  await settled();
  session.end();
  await until(() => refused(session.getState()).length > 0);
  await sent;
  assert.deepEqual([gateway.times("chat"), refused(session.getState())], [0, ["too late"]]);
});
