// Pages before a gateway that a test writes, which does not answer their first look until the test says so.
import { afterEach, before, beforeEach } from "node:test";

import type { UIMessage } from "ai";

import type * as Hook from "../src/react.js";
import { Component, hookOf } from "./component.js";
import { begun, ended, json, Scripted, streams } from "./scripted.js";
import { until } from "./stage.js";

export const WHOLE = [...begun("Hello"), ...ended()];

/** Made in a suite: each of its tests has a gateway of its own. */
export class Pages {
  gateway!: Scripted;
  /** Answers the look. */
  answer!: (history?: UIMessage[]) => void;
  #hook!: typeof Hook;
  readonly #all = new Set<Component>();

  constructor(version: string) {
    before(async () => {
      this.#hook = await hookOf(version);
    });
    beforeEach(async () => {
      this.gateway = await Scripted.start();
      this.gateway.replies.messages = [
        (response) => void (this.answer = (history = []) => json(response, 200, history)),
        (response) => json(response, 200, this.gateway.history),
      ];
      this.gateway.replies.chat = [streams(WHOLE)];
    });
    afterEach(async () => {
      for (const each of this.#all) each.unmount();
      this.#all.clear();
      await this.gateway.end();
    });
  }

  options(more: Partial<Hook.TurnwireOptions> = {}): Hook.TurnwireOptions {
    return { url: this.gateway.url, sessionId: "s1", limits: { waitsMs: [0, 5] }, ...more };
  }

  shown(more: Partial<Hook.TurnwireOptions> = {}, begin?: (now: Hook.Turnwire) => void): Component {
    const page = new Component(this.#hook, this.options(more), begin);
    this.#all.add(page);
    return page;
  }

  /** A page whose look is under way, and a prompt that waits for it. */
  async waiting(more: Partial<Hook.TurnwireOptions> = {}) {
    const page = this.shown(more);
    await until(() => this.gateway.times("messages") === 1);
    const sent = page.now.sendMessage({ text: "Hi" });
    await until(() => page.now.unsent.length === 1);
    return { page, sent };
  }

  /** What the gateway was asked to send. */
  prompts() {
    return this.gateway.asked.filter(({ route }) => route === "chat");
  }
}
