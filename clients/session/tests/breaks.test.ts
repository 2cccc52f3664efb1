// What a session does about streams that break again and again.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { answer, begun, clock, opened, passes, refusal, Scripted, settled, stream, textsOf, until, user, whole, written } from "./scripted.js";

before(() => clock.start());
after(() => clock.stop());

const TRIES = 6;
/** Longer than a session needs to see that a stream is open. */
const AT_ONCE = { after: 20, breaks: true };

/** A gateway whose agent hangs up on every stream of the turn t1, which begins with a prompt. */
function hangingUp(): Scripted {
  const gateway = new Scripted();
  gateway.replies.chat = ({ messages }) => {
    gateway.history = messages as typeof gateway.history;
    gateway.replies.stream = () => stream(begun("t1"), AT_ONCE);
    return stream(begun("t1"), AT_ONCE);
  };
  return gateway;
}

test("streams that open and break at once are asked for six times, and then it is the user's turn", async () => {
  const gateway = hangingUp();
  const session = await opened(gateway, { session: "s" });
  gateway.asked.length = 0;
  const notices = new Set<string>();
  session.subscribe(() => notices.add(session.getState().notice?.code ?? "none"));
  void session.send({ text: "why?" });
  await until(() => session.getState().notice?.gaveUp === true);
  await passes(60_000);
  const { notice, recovering, loading, messages } = session.getState();
  assert.deepEqual([gateway.times("stream"), notice?.code, notice?.step], [TRIES, "connection_lost", "reconnect"]);
  assert.deepEqual([recovering, loading, textsOf(messages)], [false, false, ["why?", "so"]]);

  session.reconnect();
  await until(() => gateway.times("stream") === 2 * TRIES && session.getState().notice?.gaveUp === true);
  await passes(60_000);
  assert.equal(gateway.times("stream"), 2 * TRIES);
});

test("so are streams that break before they bring anything", async () => {
  const gateway = new Scripted();
  gateway.history = [user("u1", "why?")];
  gateway.replies.stream = () => stream([], AT_ONCE);
  const session = await opened(gateway);
  await until(() => session.getState().notice?.gaveUp === true);
  // Nor does the prompt in the history say that there is anything new.
  session.look();
  await passes(60_000);
  assert.equal(gateway.times("stream"), TRIES);
});

test("who gave up looks in vain until the history has the answer", async () => {
  const gateway = hangingUp();
  const session = await opened(gateway);
  void session.send({ text: "why?" });
  await until(() => session.getState().notice?.gaveUp === true);
  const before = gateway.times("stream");
  session.look();
  await settled();
  assert.equal(gateway.times("stream"), before);

  gateway.history = [...gateway.history, answer("t1", "so it is")];
  gateway.replies.stream = () => new Response(null, { status: 204 });
  session.look();
  await until(() => session.getState().notice === null);
  assert.deepEqual(textsOf(session.getState().messages), ["why?", "so it is"]);
});

test("streams that bring something new each time are followed to the end of their turn", async () => {
  const gateway = hangingUp();
  const session = await opened(gateway);
  void session.send({ text: "why?" });
  await until(() => gateway.times("chat") === 1);
  let words = "so";
  const times: number[] = [];
  gateway.replies.stream = () => {
    times.push(Date.now());
    words += " on";
    return words.length > 60 ? stream(whole("t1", words)) : stream(begun("t1", words), AT_ONCE);
  };
  await until(() => session.getState().status === "ready" && textsOf(session.getState().messages).at(-1) === words);
  assert.equal(session.getState().notice, null);
  assert.ok(gateway.times("stream") > 2 * TRIES);
  // Not as fast as they break: an agent may go on so for ever.
  assert.ok(times.slice(1).every((time, at) => time - times[at]! >= 400), times.join());
});

test("streams that live for a while are followed, though they bring nothing", async () => {
  const gateway = new Scripted();
  gateway.replies.stream = () => {
    const { response, keepAlive, fail } = written();
    setTimeout(keepAlive, 12_000);
    setTimeout(fail, 12_500);
    return response;
  };
  const session = await opened(gateway);
  await until(() => gateway.times("stream") > 2 * TRIES);
  gateway.replies.stream = () => new Response(null, { status: 204 });
  await until(() => session.getState().status === "ready" && session.getState().notice === null);
});

test("a new prompt begins the count anew", async () => {
  const gateway = hangingUp();
  const session = await opened(gateway);
  for (const prompts of [1, 2]) {
    void session.send({ text: "why?" });
    await until(() => gateway.times("chat") === prompts && session.getState().notice?.gaveUp === true);
    // The first stream of all looked whether a turn ran.
    assert.equal(gateway.times("stream"), 1 + prompts * TRIES);
  }
});

test("a gateway that refuses streams is asked six times, and left alone by who looks every ten seconds", async () => {
  const gateway = new Scripted();
  gateway.replies.stream = () => refusal("unavailable", 503);
  const session = gateway.session();
  session.open();
  for (let looks = 0; looks < 6; looks++) {
    await passes(10_000);
    session.look();
  }
  await passes(10_000);
  assert.deepEqual([gateway.times("stream"), session.getState().notice?.gaveUp], [TRIES, true]);
});

test("a look that nobody answers is given up, and tried again", async () => {
  const gateway = new Scripted();
  gateway.replies.stream = (_, signal) =>
    new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(signal.reason as Error)));
  const session = gateway.session();
  session.open();
  await until(() => gateway.times("stream") === 2);
  assert.deepEqual([session.getState().notice?.code, session.getState().recovering], ["unreached", true]);
  gateway.replies.stream = () => new Response(null, { status: 204 });
  await until(() => session.getState().notice === null && !session.getState().looking);
});

test("what is asked for by a double click is read once", async () => {
  const gateway = new Scripted();
  gateway.history = [user("u1", "why?"), answer("t1")];
  const session = gateway.session();
  session.open();
  session.open();
  await until(() => !session.getState().loading && !session.getState().looking);
  await settled();
  assert.deepEqual([gateway.times("messages"), gateway.times("stream")], [1, 1]);
  session.reconnect();
  session.reconnect();
  await until(() => !session.getState().recovering);
  await settled();
  assert.deepEqual([gateway.times("messages"), gateway.times("stream")], [2, 2]);
});
