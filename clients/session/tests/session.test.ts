// The session before a real gateway and agent.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { followNetwork, openSession, withToken } from "../src/index.js";
import { happened, idle, newSession, opened, said, Stage, until } from "./stage.js";

const END = "this is the end.";
const HANGING = "until somebody stops me.";

let stage: Stage;
before(async () => (stage = await Stage.start()));
after(() => stage.end());

const has = (text: string) => (state: Parameters<typeof said>[0]) => (said(state).at(-1) ?? "").includes(text);
const once = (state: Parameters<typeof said>[0]) => {
  const text = said(state).at(-1) ?? "";
  return Array.from({ length: 10 }, (_, at) => text.split(`Chapter ${at + 1}.`).length - 1);
};
const ALL = Array<number>(10).fill(1);

/** Until everything is done that waits for no timer and no socket. */
const nextTask = () => new Promise((resolve) => setImmediate(resolve));

/** Until Node has noticed which of its connections were cut. */
async function reached(): Promise<void> {
  const response = await fetch(`${stage.url}/healthz`).catch(() => null);
  if (response === null) return reached();
  await response.text();
}

/** A `fetch` that fails for so many requests to a route. */
function failing(route: string, times: number): { fetch: typeof fetch; asked: string[] } {
  const asked: string[] = [];
  const send = withToken(() => stage.token);
  return {
    asked,
    fetch: (input, init) => {
      asked.push(String(input));
      if (!String(input).includes(route) || times-- <= 0) return send(input, init);
      return Promise.reject(new TypeError("fetch failed"));
    },
  };
}

test("a prompt is answered, and the history is there for the next client", async () => {
  const session = newSession();
  const client = await opened(stage.client({ session }));
  await client.send({ text: "what is 12*7?" });
  const live = await idle(client);
  assert.match(said(live).at(-1) ?? "", /12\*7 is 84\./);
  const next = await opened(stage.client({ session }));
  assert.deepEqual(said(next.getState()), said(live));
  assert.equal(next.getState().notice, null);
});

test("history comes first: a prompt of who is faster waits for it", async () => {
  const { fetch, asked } = failing("nothing", 0);
  const client = stage.client({ fetch });
  client.open();
  await client.send({ text: "what is 1+1?" });
  await idle(client);
  const routes = asked.map((url) => url.replace(/.*\/api\/sessions\/[^/]+\//, "").replace(/\?.*/, ""));
  assert.deepEqual(routes.map((route) => (route.endsWith("/stream") ? "stream" : route)), ["messages", "stream", "chat"]);
});

test("a client that comes in the middle of a turn follows it to its end", async () => {
  const session = newSession();
  const first = await opened(stage.client({ session }));
  void first.send({ text: "tell me a long story" });
  await until(first, has("Chapter 2."));
  const second = await opened(stage.client({ session }));
  const state = await until(second, has(END));
  assert.deepEqual(once(state), ALL);
  assert.deepEqual(await stage.ended(session), ["end_turn"]);
});

const BREAKS: [name: string, breaks: (client: ReturnType<Stage["client"]>) => Promise<unknown>][] = [
  ["a line that is cut", () => stage.command("cut")],
  ["a gateway that restarts", () => stage.command("restart")],
  ["a gateway that crashes", () => stage.command("crash")],
  ["a network that changed", async (client) => client.back()],
];

for (const [name, breaks] of BREAKS) {
  test(`a turn goes on where it is after ${name}`, async () => {
    const session = newSession();
    const client = await opened(stage.client({ session }));
    const codes = new Set<string>();
    client.subscribe(() => codes.add(client.getState().notice?.code ?? "none"));
    // On a busy machine a gateway may be away for longer than a client tries by itself.
    client.subscribe(() => client.getState().notice?.gaveUp && client.reconnect());
    void client.send({ text: "tell me a long story" });
    await until(client, has("Chapter 1."));
    await breaks(client);
    // The stage may say that it has done so when the client is over it already.
    await until(client, () => [...codes].some((code) => code !== "none"));
    await until(client, has(END));
    const state = await idle(client);
    assert.deepEqual(once(state), ALL);
    assert.deepEqual([state.notice, state.messages.length], [null, 2]);
    assert.deepEqual(await stage.ended(session), ["end_turn"]);
    assert.ok([...codes].every((code) => ["none", "connection_lost", "gateway_restarting"].includes(code)), [...codes].join());
  });
}

test("a line that falls silent is given up, and the turn picked up", async () => {
  const session = newSession();
  const client = await opened(stage.client({ session, silenceMs: 4_000 }));
  await stage.command("cut");
  await stage.command("swallow", 6_000);
  await reached();
  void client.send({ text: "tell me a long story" });
  await until(client, has("A long story, then."));
  await until(client, ({ notice }) => notice?.code === "line_silent");
  await stage.command("mend");
  await stage.command("cut");
  const state = await until(client, has(END));
  assert.deepEqual(once(state), ALL);
  assert.deepEqual(await stage.ended(session), ["end_turn"]);
});

test("the browser's word that it is online looks anew", async () => {
  const page = new EventTarget();
  const { addEventListener, removeEventListener } = page;
  Object.assign(globalThis, {
    addEventListener: addEventListener.bind(page),
    removeEventListener: removeEventListener.bind(page),
  });
  let times = 0;
  const leave = followNetwork({ back: () => void (times += 1) });
  page.dispatchEvent(new Event("online"));
  leave();
  page.dispatchEvent(new Event("online"));
  assert.equal(times, 1);
});

test("a stop stops the agent, and the message says so as the history does", async () => {
  const session = newSession();
  const client = await opened(stage.client({ session }));
  void client.send({ text: "hang" });
  await until(client, has(HANGING));
  await client.stop();
  const state = await idle(client);
  assert.deepEqual(state.messages.at(-1)?.metadata, { finish: { reason: "canceled" } });
  assert.deepEqual(await stage.ended(session), ["canceled"]);
  const next = await opened(stage.client({ session }));
  assert.deepEqual(next.getState().messages.at(-1)?.metadata, { finish: { reason: "canceled" } });
});

test("a turn whose stop was lost goes on to be shown", async () => {
  const session = newSession();
  const client = await opened(stage.client({ session, fetch: failing("/stop", 1).fetch }));
  void client.send({ text: "hang" });
  await until(client, has(HANGING));
  await client.stop();
  await until(client, (state) => state.status === "streaming" && has(HANGING)(state));
  assert.deepEqual(await stage.command("runs", session), [null]);
  await client.stop();
  assert.deepEqual(await stage.ended(session), ["canceled"]);
});

/** A client whose next prompts do not reach the gateway. */
function losing(session: string) {
  const send = withToken(() => stage.token);
  const lost = { times: 0 };
  const lossy: typeof fetch = (input, init) => {
    if (!String(input).endsWith("/chat") || lost.times === 0) return send(input, init);
    lost.times -= 1;
    return Promise.reject(new TypeError("fetch failed"));
  };
  return { client: stage.client({ session, fetch: lossy }), lost };
}

const prompts = (state: Parameters<typeof said>[0]) => said(state).filter((text) => text.startsWith("user")).length;

test("a prompt that never arrived is kept, offered again, and doubled by nobody", async () => {
  const session = newSession();
  const { client, lost } = losing(session);
  await opened(client);
  // Nor the same that was asked and answered before, or one that is lost twice.
  for (const times of [1, 2, 0]) {
    const before = client.chat.messages.length;
    lost.times = times;
    await client.send({ text: "what is 1+1?" });
    for (let at = 0; at < times; at++) {
      const state = await until(client, ({ notice, recovering }) => notice?.code === "not_sent" && !recovering);
      assert.deepEqual([state.notice?.step, prompts(state)], ["retry", before / 2 + 1]);
      client.retry();
      await until(client, ({ notice }) => notice === null);
    }
    const whole = (state: Parameters<typeof said>[0]) => state.messages.length === before + 2 && has("1+1 is 2.")(state);
    await until(client, (state) => state.status === "ready" && whole(state));
  }
  assert.deepEqual(await stage.ended(session), Array(3).fill("end_turn"));
});

test("a retry that never arrived is no answer either", async () => {
  const session = newSession();
  const { client, lost } = losing(session);
  await opened(client);
  await client.send({ text: "make the turn fail" });
  const failed = await until(client, ({ notice }) => notice?.code === "turn_failed");
  assert.equal(failed.notice?.detail, "The agent was told to fail this turn.");
  lost.times = 1;
  client.retry();
  const state = await until(client, ({ notice }) => notice?.code === "not_sent");
  assert.equal(prompts(state), 1);
  client.retry();
  await until(client, ({ notice }) => notice?.code === "turn_failed");
  assert.deepEqual(await stage.ended(session), ["error", "error"]);
});

test("a prompt goes back to where it was written if a turn is found to run", async () => {
  const session = newSession();
  const first = await opened(stage.client({ session }));
  const second = await opened(stage.client({ session }));
  void first.send({ text: "hang" });
  await until(first, has(HANGING));
  second.look();
  await second.send({ text: "what is 1+1?" });
  const state = await until(second, ({ refused }) => refused.length > 0);
  assert.deepEqual(state.refused.map(({ parts }) => parts), [[{ type: "text", text: "what is 1+1?" }]]);
  second.tookBack(state.refused);
  assert.deepEqual(second.getState().refused, []);
  await first.stop();
  assert.deepEqual(await stage.ended(session), ["canceled"]);
});

test("one client answers a question, and it closes for the other", async () => {
  const session = newSession();
  const asked = (state: Parameters<typeof said>[0]) =>
    state.messages.at(-1)?.parts.flatMap((part) => (part.type === "data-question" ? [part.data as { questionId: string; state: string }] : []));
  const first = await opened(stage.client({ session }));
  void first.send({ text: "ask me: tea or coffee?" });
  await until(first, (state) => asked(state)?.at(-1)?.state === "open");
  const second = await opened(stage.client({ session }));
  const state = await until(second, (each) => asked(each)?.at(-1)?.state === "open");
  assert.equal(await second.answer(asked(state)?.at(-1)?.questionId ?? "", "tea"), true);
  await until(first, has("you said tea"));
  assert.deepEqual(asked(await idle(first))?.map((each) => each.state), ["resolved"]);

  assert.equal(await second.answer("gone", "tea"), false);
  assert.equal(second.getState().notice?.step, "reconnect");
});

test("one client approves, and another that shows the approval sees that it is over", async () => {
  const session = newSession();
  const first = await opened(stage.client({ session, nativeApprovals: true }));
  void first.send({ text: "approve 12*7" });
  await until(first, () => first.asking);
  const second = await opened(stage.client({ session, nativeApprovals: true }));
  await until(second, () => second.asking);
  const part = first.chat.lastMessage?.parts.find((each) => "approval" in each && each.approval !== undefined);
  assert.ok(part !== undefined && "approval" in part && part.approval !== undefined);
  await first.chat.addToolApprovalResponse({ id: part.approval.id, approved: true });
  await until(first, (state) => state.status === "ready" && has("12*7 is 84.")(state));
  second.look(true);
  await until(second, has("12*7 is 84."));
  assert.equal(second.asking, false);
  assert.deepEqual(await stage.ended(session), ["end_turn"]);
});

test("a token that expired is replaced, and one refused twice is told", async () => {
  const tokens = [stage.expired, stage.token];
  const client = await opened(stage.client({ fetch: withToken(() => tokens.shift() ?? "") }));
  assert.equal(client.getState().notice, null);
  const out = await opened(stage.client({ fetch: withToken(() => stage.expired) }));
  assert.deepEqual([out.getState().notice?.code, out.getState().notice?.step], ["signed_out", "reconnect"]);
});

test("a gateway that is away is tried six times, and again when the user says so", async () => {
  const { fetch, asked } = failing("/messages", 7);
  const client = stage.client({ fetch });
  client.open();
  const told = await until(client, ({ notice }) => notice !== null);
  assert.deepEqual([told.notice?.code, told.notice?.automatic, told.loading], ["unreached", true, true]);
  const gone = await until(client, ({ notice }) => notice?.gaveUp === true);
  assert.deepEqual([asked.length, gone.loading, gone.recovering], [6, false, false]);
  client.reconnect();
  await until(client, ({ notice }) => notice === null);
  assert.equal(client.known, true);
});

test("who knows that the line is back does not wait for the next try", async () => {
  const { fetch, asked } = failing("/messages", 5);
  const client = stage.client({ fetch });
  client.open();
  // The wait before the last try is five seconds.
  await happened(() => asked.length === 5);
  await nextTask();
  assert.equal(asked.length, 5);
  client.back();
  await nextTask();
  assert.equal(asked.length, 6);
  await until(client, ({ notice, loading }) => notice === null && !loading);
});

test("a session that has ended asks nothing more", async () => {
  const { fetch, asked } = failing("/messages", 100);
  const client = openSession({ url: stage.url, session: newSession(), fetch });
  client.open();
  await until(client, ({ notice }) => notice !== null);
  client.end();
  const before = asked.length;
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  assert.equal(asked.length, before);
});
