// The hook, where a prompt is sent before it is known whether a turn runs.
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { suite, test } from "node:test";

import type { UIMessage } from "ai";

import type { Network } from "../src/index.js";
import { memory } from "./memory.js";
import { Pages } from "./pages.js";
import { answered, breaks, user } from "./scripted.js";
import { until } from "./stage.js";

const pause = () => new Promise((resolve) => setTimeout(resolve, 50));
const none = (response: ServerResponse) => response.writeHead(204).end();

export function waitingSuiteOf(version: string): void {
  suite(`a prompt that waits, with ai ${version}`, () => {
    const pages = new Pages(version);
    const prompts = () => pages.prompts().map(({ body }) => (body["messages"] as UIMessage[]).at(-1)?.parts);

    test("is unsent and submitted at once, and is sent when it is known", async () => {
      const { page, sent } = await pages.waiting();
      assert.equal(page.now.phase, "submitted");
      assert.deepEqual(page.now.unsent.map(({ code, message }) => [code, message.parts]), [["waiting", [{ type: "text", text: "Hi" }]]]);
      assert.equal(pages.gateway.times("chat"), 0);
      pages.answer();
      await sent;
      await until(() => page.text === "Hello" && page.now.phase === "ready");

      assert.deepEqual(page.now.unsent, []);
      assert.deepEqual(page.now.messages.map(({ role }) => role), ["user", "assistant"]);
    });

    test("says that it is offline while there is no network", async () => {
      const backs = new Set<() => void>();
      let isOnline = false;
      const network: Network = { isOnline: () => isOnline, whenBack: (back) => (backs.add(back), () => void backs.delete(back)) };
      pages.gateway.replies.stream = [breaks, none];
      const { page, sent } = await pages.waiting({ network });
      pages.answer();
      await until(() => page.now.phase === "offline");
      assert.equal(page.now.unsent.length, 1);
      isOnline = true;
      for (const back of [...backs]) back();
      await sent;

      await until(() => page.text === "Hello" && page.now.phase === "ready");
      assert.equal(pages.gateway.times("chat"), 1);
    });

    test("is not taken for an older one with the same words", async () => {
      const { page, sent } = await pages.waiting();
      pages.answer([user("m0", "Hi"), answered("turn-0", "An old answer")]);
      await sent;

      await until(() => page.text === "Hello");
      assert.equal(page.now.messages.length, 4);
    });

    test("is not sent if it is forgotten", async () => {
      const { page, sent } = await pages.waiting();
      page.now.forget(page.now.unsent[0]?.message.id ?? "");
      pages.answer();
      await sent;
      await until(() => page.now.phase === "ready");

      assert.deepEqual([pages.gateway.times("chat"), page.now.unsent, page.now.messages], [0, [], []]);
    });

    test("stays unsent if it is stopped, and can be sent again", async () => {
      const { page, sent } = await pages.waiting();
      await page.now.stop();
      await sent;
      pages.answer();
      await until(() => page.now.phase === "ready");
      assert.equal(pages.gateway.times("chat"), 0);
      const [unsent] = page.now.unsent;
      assert.equal(await page.now.sendAgain(unsent?.message.id ?? ""), true);

      await until(() => page.text === "Hello" && page.now.unsent.length === 0);
    });

    test("is sent behind one that waits too", async () => {
      const { page, sent } = await pages.waiting();
      const next = page.now.sendMessage({ text: "More" });
      await until(() => page.now.unsent.length === 2);
      pages.answer();
      await Promise.all([sent, next]);

      assert.deepEqual(prompts(), ["Hi", "More"].map((text) => [{ type: "text", text }]));
      await until(() => page.now.unsent.length === 0);
    });

    test("is there when the page is opened again, and two pages send it once", async () => {
      const storage = memory();
      const { page, sent } = await pages.waiting({ storage, user: "ann" });
      const other = pages.shown({ storage, user: "ann" });
      await until(() => other.now.unsent?.length === 1);
      assert.equal(await other.now.sendAgain(other.now.unsent[0]?.message.id ?? ""), false);
      pages.answer();
      await sent;
      await pause();

      assert.equal(pages.gateway.times("chat"), 1);
      await until(() => page.text === "Hello" && page.now.unsent.length === 0);
    });
  });
}
