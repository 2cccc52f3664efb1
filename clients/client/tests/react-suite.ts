// The hook, in a component, before a real gateway and before one that a test writes.
import assert from "node:assert/strict";
import { after, afterEach, before, suite, test } from "node:test";

import type * as Hook from "../src/react.js";
import { Component, hookOf } from "./component.js";
import { answered, begun, ended, json, refuses, Scripted, streams, user } from "./scripted.js";
import { newSession, Stage, until } from "./stage.js";

export function reactSuiteOf(version: string): void {
  suite(`useTurnwire with ai ${version}`, () => {
    let hook: typeof Hook;
    const mounted = new Set<Component>();
    before(async () => {
      hook = await hookOf(version);
    });
    afterEach(() => {
      for (const each of mounted) each.unmount();
      mounted.clear();
    });

    function shown(options: Hook.TurnwireOptions) {
      const page = new Component(hook, options);
      mounted.add(page);
      return page;
    }

    suite("before a real gateway", () => {
      let stage: Stage;
      before(async () => {
        stage = await Stage.start();
      });
      after(() => stage.end());
      const open = (sessionId: string) => shown({ url: stage.url, sessionId, token: () => stage.token });

      test("a prompt, a reload in mid-turn, and a stop at the agent", async () => {
        const session = newSession();
        const page = open(session);
        await until(() => page.now.phase === "ready");
        assert.equal(page.phases[0], "loading");
        void page.now.sendMessage({ text: "tell me a long story" });
        await until(() => page.text.length > 50);
        page.unmount();

        const next = open(session);
        await until(() => next.text.length > 80);
        assert.deepEqual(next.now.messages.map(({ role }) => role), ["user", "assistant"]);
        assert.deepEqual(await stage.command("runs", session), [null]);
        await next.now.stop();
        assert.deepEqual(await stage.ended(session), ["canceled"]);
        await until(() => next.now.phase === "ready");
        assert.ok(next.phases.includes("stopping"), next.phases.join());
      });

      test("a question is answered", async () => {
        const page = open(newSession());
        await until(() => page.now.phase === "ready");
        void page.now.sendMessage({ text: "ask me: tea or coffee?" });
        type Question = { type: string; id: string; data: { options: string[] } };
        const question = () => page.now.messages.at(-1)?.parts.find(({ type }) => type === "data-question") as Question | undefined;
        await until(() => question() !== undefined);
        await page.now.answer(question()?.id ?? "", question()?.data.options[0]);
        await until(() => page.now.phase === "ready");

        assert.match(page.text, new RegExp(question()?.data.options[0] ?? "-"));
      });

      test("a line that breaks is no error", async () => {
        const page = open(newSession());
        await until(() => page.now.phase === "ready");
        void page.now.sendMessage({ text: "search for keepalive" });
        await until(() => page.text.length > 5);
        await stage.command("cut");
        await until(() => page.now.phase === "ready");

        assert.equal(page.now.error, undefined);
        assert.match(page.text, /I found/);
      });
    });

    suite("before one that a test writes", () => {
      let gateway: Scripted;
      before(async () => {
        gateway = await Scripted.start();
      });
      after(() => gateway.end());
      const open = () => shown({ url: gateway.url, sessionId: newSession(), limits: { waitsMs: [0, 5] } });

      test("a prompt that is refused is unsent, and is sent again", async () => {
        const page = open();
        await until(() => page.now.phase === "ready");
        gateway.replies.chat = [refuses(429, "too_many_turns"), streams([...begun("Hello"), ...ended()])];
        void page.now.sendMessage({ text: "Hi" });
        await until(() => page.now.phase === "error");
        const [unsent] = page.now.unsent;
        assert.equal(unsent?.code, "too_many_turns");
        assert.equal(await page.now.sendAgain(unsent?.message.id ?? ""), true);

        await until(() => page.text === "Hello");
        assert.equal(page.now.messages.length, 2);
        await until(() => page.now.unsent.length === 0 && page.now.phase === "ready");
      });

      test("a text that is another than before a break is read anew", async () => {
        const page = open();
        await until(() => page.now.phase === "ready");
        gateway.replies.chat = [streams(begun("Hel"), "breaks")];
        gateway.replies.stream = [streams(begun("Good"), "stays"), streams([...begun("Good morning"), ...ended()])];
        gateway.history = [user("m1", "Hi")];
        await page.now.sendMessage({ text: "Hi" });
        await until(() => page.text === "Good morning");

        assert.equal(page.now.messages.length, 2);
        gateway.history = [];
      });

      test("a turn that ends between the two requests of a reload is shown", async () => {
        gateway.replies.stream = [(response) => response.writeHead(204).end()];
        gateway.replies.messages = [
          (response) => json(response, 200, [user("m1", "Hi")]),
          (response) => json(response, 200, [user("m1", "Hi"), answered("turn-1", "Hello")]),
        ];
        const page = open();
        await until(() => page.text === "Hello");
      });

      test("a history that cannot be read is an error, and can be read again", async () => {
        gateway.replies.messages = [refuses(503, "unavailable"), refuses(503, "unavailable"), (response) => json(response, 200, [answered("a", "Hello")])];
        const page = open();
        await until(() => page.now.phase === "error");
        await page.now.reload();
        await until(() => page.text === "Hello");
        await until(() => page.now.phase === "ready");
      });

      test("a prompt that is sent while a turn is looked for is sent behind that", async () => {
        gateway.replies.messages = [(response) => json(response, 200, [])];
        gateway.replies.stream = [(response) => setTimeout(() => response.writeHead(204).end(), 100)];
        gateway.replies.chat = [streams([...begun("Hello"), ...ended()])];
        gateway.asked.length = 0;
        const page = open();
        await until(() => gateway.times("stream") > 0);
        await page.now.sendMessage({ text: "Hi" });
        await until(() => page.text === "Hello" && page.now.phase === "ready");

        assert.equal(gateway.asked.at(-1)?.route, "chat");
        assert.deepEqual(page.now.messages.map(({ role }) => role), ["user", "assistant"]);
      });
    });
  });
}
