// The hook, where a prompt is sent before it is known whether a turn runs.
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { afterEach, before, beforeEach, suite, test } from "node:test";

import type { UIMessage } from "ai";

import type { Network, StoragePort } from "../src/index.js";
import type * as Hook from "../src/react.js";
import { Component, hookOf } from "./component.js";
import { answered, begun, breaks, ended, json, Scripted, streams, user } from "./scripted.js";
import { until } from "./stage.js";

const pause = () => new Promise((resolve) => setTimeout(resolve, 50));
const none = (response: ServerResponse) => response.writeHead(204).end();
const WHOLE = [...begun("Hello"), ...ended()];

export function waitingSuiteOf(version: string): void {
  suite(`a prompt that waits, with ai ${version}`, () => {
    let hook: typeof Hook;
    let gateway: Scripted;
    /** Answers the look. */
    let answer: (history?: UIMessage[]) => void;
    const pages = new Set<Component>();
    before(async () => {
      hook = await hookOf(version);
    });
    beforeEach(async () => {
      gateway = await Scripted.start();
      gateway.replies.messages = [
        (response) => void (answer = (history = []) => json(response, 200, history)),
        (response) => json(response, 200, gateway.history),
      ];
      gateway.replies.chat = [streams(WHOLE)];
    });
    afterEach(async () => {
      for (const each of pages) each.unmount();
      pages.clear();
      await gateway.end();
    });

    function shown(options: Partial<Hook.TurnwireOptions> = {}): Component {
      const page = new Component(hook, { url: gateway.url, sessionId: "s1", limits: { waitsMs: [0, 5] }, ...options });
      pages.add(page);
      return page;
    }

    /** A page whose look is under way, and a prompt that waits for it. */
    async function waiting(options: Partial<Hook.TurnwireOptions> = {}) {
      const page = shown(options);
      await until(() => gateway.times("messages") === 1);
      const sent = page.now.sendMessage({ text: "Hi" });
      await until(() => page.now.unsent.length === 1);
      return { page, sent };
    }
    const prompts = () => gateway.asked.filter(({ route }) => route === "chat").map(({ body }) => (body["messages"] as UIMessage[]).at(-1)?.parts);

    test("is unsent and submitted at once, and is sent when it is known", async () => {
      const { page, sent } = await waiting();
      assert.equal(page.now.phase, "submitted");
      assert.deepEqual(page.now.unsent.map(({ code, message }) => [code, message.parts]), [["waiting", [{ type: "text", text: "Hi" }]]]);
      assert.equal(gateway.times("chat"), 0);
      answer();
      await sent;
      await until(() => page.text === "Hello" && page.now.phase === "ready");

      assert.deepEqual(page.now.unsent, []);
      assert.deepEqual(page.now.messages.map(({ role }) => role), ["user", "assistant"]);
    });

    test("says that it is offline while there is no network", async () => {
      const backs = new Set<() => void>();
      let isOnline = false;
      const network: Network = { isOnline: () => isOnline, whenBack: (back) => (backs.add(back), () => void backs.delete(back)) };
      gateway.replies.stream = [breaks, none];
      const { page, sent } = await waiting({ network });
      answer();
      await until(() => page.now.phase === "offline");
      assert.equal(page.now.unsent.length, 1);
      isOnline = true;
      for (const back of [...backs]) back();
      await sent;

      await until(() => page.text === "Hello" && page.now.phase === "ready");
      assert.equal(gateway.times("chat"), 1);
    });

    test("is not taken for an older one with the same words", async () => {
      const { page, sent } = await waiting();
      answer([user("m0", "Hi"), answered("turn-0", "An old answer")]);
      await sent;

      await until(() => page.text === "Hello");
      assert.equal(page.now.messages.length, 4);
    });

    test("is not sent if it is forgotten", async () => {
      const { page, sent } = await waiting();
      page.now.forget(page.now.unsent[0]?.message.id ?? "");
      answer();
      await sent;
      await until(() => page.now.phase === "ready");

      assert.deepEqual([gateway.times("chat"), page.now.unsent, page.now.messages], [0, [], []]);
    });

    test("stays unsent if it is stopped, and can be sent again", async () => {
      const { page, sent } = await waiting();
      await page.now.stop();
      await sent;
      answer();
      await until(() => page.now.phase === "ready");
      assert.equal(gateway.times("chat"), 0);
      const [unsent] = page.now.unsent;
      assert.equal(await page.now.sendAgain(unsent?.message.id ?? ""), true);

      await until(() => page.text === "Hello" && page.now.unsent.length === 0);
    });

    test("is sent behind one that waits too", async () => {
      const { page, sent } = await waiting();
      const next = page.now.sendMessage({ text: "More" });
      await until(() => page.now.unsent.length === 2);
      answer();
      await Promise.all([sent, next]);

      assert.deepEqual(prompts(), ["Hi", "More"].map((text) => [{ type: "text", text }]));
      await until(() => page.now.unsent.length === 0);
    });

    test("is there when the page is opened again, and two pages send it once", async () => {
      const all = new Map<string, string>();
      const storage: StoragePort = {
        getItem: (key) => all.get(key) ?? null,
        setItem: (key, value) => void all.set(key, value),
        removeItem: (key) => void all.delete(key),
      };
      const { page, sent } = await waiting({ storage, user: "ann" });
      const other = shown({ storage, user: "ann" });
      await until(() => other.now.unsent?.length === 1);
      assert.equal(await other.now.sendAgain(other.now.unsent[0]?.message.id ?? ""), false);
      answer();
      await sent;
      await pause();

      assert.equal(gateway.times("chat"), 1);
      await until(() => page.text === "Hello" && page.now.unsent.length === 0);
    });
  });
}
