// The hook, where a prompt waits and its component goes away, or another page sends it.
import assert from "node:assert/strict";
import { suite, test } from "node:test";

import type { UnsentPrompt } from "../src/index.js";
import type { Component } from "./component.js";
import { memory } from "./memory.js";
import { Pages, WHOLE } from "./pages.js";
import { breaks, refuses, streams } from "./scripted.js";
import { until } from "./stage.js";

/** React does what follows a little later. */
const pause = () => new Promise((resolve) => setTimeout(resolve, 50));

export function leftSuiteOf(version: string): void {
  suite(`a prompt that waits and is left, with ai ${version}`, () => {
    const pages = new Pages(version);

    test("is sent though React's strict mode takes its component away once", async () => {
      let sent: Promise<void> | undefined;
      const page = pages.shown({}, (now) => void (sent = now.sendMessage({ text: "Hi" })));
      await until(() => pages.gateway.times("messages") === 1 && page.now.unsent.length === 1);
      pages.answer();
      await sent;

      await until(() => page.text === "Hello" && page.now.phase === "ready");
      assert.deepEqual([pages.gateway.times("chat"), page.now.unsent], [1, []]);
    });

    test("is not sent when its component is gone, and is unsent as soon as it is back", async () => {
      const storage = memory();
      const { page, sent } = await pages.waiting({ storage, user: "ann" });
      page.unmount();
      await sent;
      assert.equal(pages.gateway.times("chat"), 0);
      const next = pages.shown({ storage, user: "ann" });
      await until(() => next.now.phase === "ready");
      assert.deepEqual(next.now.unsent.map(({ code }) => code), ["waiting"]);
      assert.equal(await next.now.sendAgain(next.now.unsent[0]?.message.id ?? ""), true);

      await until(() => next.text === "Hello" && next.now.unsent.length === 0);
      assert.equal(pages.gateway.times("chat"), 1);
    });

    test("is not sent if its files are read when its component is gone", async (context) => {
      const reads: (() => void)[] = [];
      class Files {
        *[Symbol.iterator]() {
          yield { name: "a.txt", type: "text/plain" };
        }
      }
      class Reader {
        onload: ((event: unknown) => void) | undefined;
        readAsDataURL() {
          reads.push(() => this.onload?.({ target: { result: "data:text/plain;base64,SGk=" } }));
        }
      }
      Object.assign(globalThis, { FileList: Files, FileReader: Reader });
      context.after(() => ["FileList", "FileReader"].forEach((name) => Reflect.deleteProperty(globalThis, name)));
      const page = pages.shown();
      await until(() => pages.gateway.times("messages") === 1);
      const sent = page.now.sendMessage({ files: new Files() as never });
      await until(() => reads.length === 1);
      pages.answer();
      await until(() => pages.gateway.times("stream") === 1);
      await pause();
      page.unmount();
      await pause();
      reads[0]?.();
      await sent;

      assert.equal(pages.gateway.times("chat"), 0);
    });

    test("of a user who signs out is nobody else's, and is there when they come back", async () => {
      const of = (name: string) => ({ user: name, token: () => name, storage });
      const storage = memory();
      const { page, sent } = await pages.waiting(of("ann"));
      await page.show(pages.options(of("bob")));
      await sent;
      await until(() => page.now.phase === "ready");
      assert.deepEqual([pages.gateway.times("chat"), page.now.unsent, page.now.messages], [0, [], []]);
      await page.show(pages.options(of("ann")));
      await until(() => page.now.phase === "ready" && page.now.unsent.length === 1);
      assert.equal(await page.now.sendAgain(page.now.unsent[0]?.message.id ?? ""), true);

      assert.deepEqual(pages.prompts().map(({ headers }) => headers.authorization), ["Bearer ann"]);
    });

    /** Two pages of a user. The one has a prompt that waits; its machine slept, so the other one may take it. */
    async function taken() {
      const storage = memory();
      const { page, sent } = await pages.waiting({ storage, user: "ann" });
      for (const [key, value] of storage.all) storage.all.set(key, value.replace(/"until":\d+/, '"until":1'));
      const other = pages.shown({ storage, user: "ann" });
      await until(() => other.now.phase === "ready" && other.now.unsent.length === 1);
      const again = other.now.sendAgain(other.now.unsent[0]?.message.id ?? "");
      await until(() => pages.gateway.times("chat") === 1);
      const kept = () => (JSON.parse([...storage.all.values()][0] ?? "[]") as UnsentPrompt[]).map(({ code, until }) => [code, until > 1]);
      return { page, sent, again, kept };
    }

    for (const [name, end] of [
      ["knows whether a turn runs", () => pages.answer()],
      ["is stopped", (page) => page.now.stop()],
      ["is gone", (page) => page.unmount()],
    ] as [string, (page: Component) => unknown][]) {
      test(`that another page is sending stays with that when its own page ${name}`, async () => {
        let refuse = () => {};
        pages.gateway.replies.chat = [(response) => void (refuse = () => refuses(429, "too_many_turns")(response, {} as never)), breaks];
        const { page, sent, again, kept } = await taken();
        await end(page);
        await sent;
        assert.deepEqual(kept(), [[null, true]]);
        refuse();
        await again;

        assert.deepEqual(kept(), [["too_many_turns", false]]);
        assert.equal(pages.gateway.times("chat"), 1);
      });
    }

    test("that another page may have sent is not sent again by itself", async () => {
      pages.gateway.replies.chat = [breaks, streams(WHOLE)];
      const { sent, again, kept } = await taken();
      await again;
      assert.deepEqual(kept(), [["not_sent", false]]);
      pages.answer();
      await sent;

      assert.equal(pages.gateway.times("chat"), 1);
    });
  });
}
