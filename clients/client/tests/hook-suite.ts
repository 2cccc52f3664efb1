// The hook where its component goes away, shows something else, or is clicked twice.
import assert from "node:assert/strict";
import { afterEach, before, beforeEach, suite, test, type TestContext } from "node:test";

import type * as Hook from "../src/react.js";
import { Component, hookOf } from "./component.js";
import { begun, breaks, ended, json, refuses, Scripted, streams, user } from "./scripted.js";
import { until } from "./stage.js";

/** React does what follows a little later. */
const pause = () => new Promise((resolve) => setTimeout(resolve, 50));

export function hookSuiteOf(version: string): void {
  suite(`useTurnwire with ai ${version}`, () => {
    let hook: typeof Hook;
    let gateway: Scripted;
    let page: Component;
    before(async () => {
      hook = await hookOf(version);
    });
    beforeEach(async () => {
      gateway = await Scripted.start();
    });
    afterEach(async () => {
      page.unmount();
      await gateway.end();
    });

    const options = (more: Partial<Hook.TurnwireOptions> = {}) => ({ url: gateway.url, sessionId: "s1", limits: { waitsMs: [0, 5] }, ...more });
    const isReady = () => page.now.phase === "ready";
    const open = async (more: Partial<Hook.TurnwireOptions> = {}) => {
      page = new Component(hook, options(more));
      await until(isReady);
    };
    const tokens = () => gateway.asked.map(({ headers }) => headers.authorization);

    test("a token that is a text may be another one with each render", async () => {
      await open({ token: "former" });
      await page.show(options({ token: "newest" }));
      await pause();
      gateway.asked.length = 0;
      await page.now.reload();

      assert.deepEqual([...new Set(tokens())], ["Bearer newest"]);
    });

    test("another user has a chat of their own, and a token of their own", async () => {
      const token = (name: string) => ({ user: name, token: () => name });
      await open(token("ann"));
      gateway.replies.chat = [refuses(429, "too_many_turns")];
      await page.now.sendMessage({ text: "A secret" });
      await until(() => page.now.unsent.length === 1);
      gateway.asked.length = 0;
      await page.show(options(token("bob")));
      assert.deepEqual([page.now.messages, page.now.unsent, page.now.error], [[], [], undefined]);
      await until(isReady);

      assert.deepEqual([...new Set(tokens())], ["Bearer bob"]);
    });

    /** Ann's answer gets a 401 when `refuse` is called. */
    async function answering(token: NonNullable<Hook.TurnwireOptions["token"]>) {
      await open({ user: "ann", token });
      let refuse = () => {};
      gateway.replies.answer = [(response) => void (refuse = () => refuses(401, "unauthorized")(response, {} as never)), (response) => json(response, 202, {})];
      const answer = page.now.answer("question-1", "yes").then(() => null, ({ code }: { code: string }) => code);
      await until(() => gateway.times("answer") === 1);
      return { answer, refuse: () => refuse() };
    }

    test("what a user has asked for is not repeated with the token of the next one", async () => {
      const { answer, refuse } = await answering(() => "ann");
      await page.show(options({ user: "bob", token: () => "bob" }));
      refuse();

      assert.equal(await answer, "no_token");
      assert.equal(gateway.times("answer"), 1);
    });

    test("nor with one that comes when the next one has signed in", async () => {
      const gives: ((token: string) => void)[] = [];
      const { answer, refuse } = await answering(({ refresh }) => (refresh ? new Promise<string>((resolve) => gives.push(resolve)) : "ann"));
      refuse();
      await until(() => gives.length === 1);
      await page.show(options({ user: "bob", token: () => "bob" }));
      gives[0]?.("bob");

      assert.equal(await answer, "no_token");
      assert.equal(gateway.times("answer"), 1);
    });

    /** The same page before another gateway, whose token is asked for with `token`. */
    async function moved(context: TestContext, token: () => string | Promise<string>) {
      const other = await Scripted.start();
      context.after(() => other.end());
      await page.show(options({ user: "ann", url: other.url, token }));
      return other;
    }

    test("what was asked of a gateway is not repeated with the token of the next one", async (context) => {
      const { answer, refuse } = await answering(() => "former");
      const other = await moved(context, () => "next");
      refuse();

      assert.equal(await answer, "no_token");
      assert.deepEqual([...new Set(tokens())], ["Bearer former"]);
      await until(() => other.times("stream") > 0);
      assert.deepEqual([...new Set(other.asked.map(({ headers }) => headers.authorization))], ["Bearer next"]);
    });

    test("nor with one that comes when the page has moved to the next one", async (context) => {
      const gives: ((token: string) => void)[] = [];
      const { answer, refuse } = await answering(({ refresh }) => (refresh ? new Promise<string>((resolve) => gives.push(resolve)) : "former"));
      refuse();
      await until(() => gives.length === 1);
      await moved(context, () => "next");
      gives[0]?.("next");

      assert.equal(await answer, "no_token");
      assert.deepEqual([...new Set(tokens())], ["Bearer former"]);
    });

    test("nor if the page was at the next one only for a while", async (context) => {
      const gives: ((token: string) => void)[] = [];
      const { answer, refuse } = await answering(() => "former");
      await moved(context, () => new Promise<string>((resolve) => gives.push(resolve)));
      refuse();
      await pause();
      await page.show(options({ user: "ann", token: () => "former" }));
      for (const give of gives) give("next");

      assert.equal(await answer, "no_token");
      await until(isReady);
      assert.deepEqual([...new Set(tokens())], ["Bearer former"]);
    });

    test("a slash at the end of the URL is no other gateway", async () => {
      const { answer, refuse } = await answering(({ refresh }) => (refresh ? "fresh" : "former"));
      await page.show(options({ user: "ann", url: `${gateway.url}/`, token: () => "fresh" }));
      refuse();

      assert.equal(await answer, null);
      assert.equal(gateway.asked.findLast(({ route }) => route === "answer")?.headers.authorization, "Bearer fresh");
    });

    test("a session that is not shown any more is not read again", async () => {
      await open();
      const { reload } = page.now;
      await page.show(options({ sessionId: "s2" }));
      await until(isReady);
      gateway.asked.length = 0;
      await reload();

      assert.deepEqual(gateway.asked, []);
    });

    test("a session is loading as soon as it is shown, and has no error of the one before", async () => {
      gateway.replies.messages = [refuses(404, "not_found")];
      page = new Component(hook, options());
      await until(() => page.now.phase === "error");
      gateway.replies.messages = [(response) => json(response, 200, [])];
      page.phases.length = 0;
      await page.show(options({ sessionId: "s2" }));
      await until(isReady);

      assert.deepEqual(page.phases, ["loading", "ready"]);
    });

    test("an old look that fails says nothing of the session that is shown now", async () => {
      await open();
      let fail = () => {};
      gateway.replies.messages = [(response) => void (fail = () => refuses(404, "not_found")(response, {} as never)), (response) => json(response, 200, [])];
      const { reload } = page.now;
      const looked = reload();
      await until(() => gateway.replies.messages.length === 1);
      await page.show(options({ sessionId: "s2" }));
      await until(isReady);
      fail();
      await looked;
      await pause();

      assert.equal(page.now.phase, "ready");
    });

    test("two clicks are one look", async () => {
      await open();
      gateway.replies.stream = [streams([...begun("Hello"), ...ended()])];
      gateway.asked.length = 0;
      await Promise.all([page.now.reload(), page.now.reload()]);
      await until(isReady);

      assert.deepEqual([gateway.times("messages"), gateway.times("stream")], [1, 1]);
    });

    test("a component that is gone follows no turn", async () => {
      await open();
      let reply = () => {};
      gateway.replies.messages = [(response) => void (reply = () => json(response, 200, []))];
      gateway.asked.length = 0;
      const looked = page.now.reload();
      await until(() => gateway.times("messages") === 1);
      page.unmount();
      await pause();
      reply();
      await looked;

      assert.equal(gateway.times("stream"), 0);
    });

    test("a prompt that the agent has is not sent again, and its turn is followed", async () => {
      await open();
      gateway.replies.chat = [breaks];
      await page.now.sendMessage({ text: "Hi" });
      await until(() => page.now.phase === "error");
      const id = page.now.unsent[0]?.message.id ?? "";
      gateway.history = [user(id, "Hi")];
      gateway.replies.stream = [streams([...begun("Hello"), ...ended()])];

      assert.equal(await page.now.sendAgain(id), false);
      await until(() => page.text === "Hello" && isReady());
      assert.equal(gateway.times("chat"), 1);
    });
  });
}
