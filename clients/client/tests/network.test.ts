// Offline, and back.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import type { Network } from "../src/index.js";
import { LIMITS } from "../src/options.js";
import { Retries } from "../src/retries.js";
import { all, begun, breaks, ended, prompt, QUICK, Scripted, streams } from "./scripted.js";
import { until } from "./stage.js";

class Wire implements Network {
  online = true;
  readonly #listeners = new Set<() => void>();

  isOnline = () => this.online;
  whenBack = (back: () => void) => {
    this.#listeners.add(back);
    return () => void this.#listeners.delete(back);
  };
  get listeners(): number {
    return this.#listeners.size;
  }
  back(): void {
    this.online = true;
    for (const listener of [...this.#listeners]) listener();
  }
}

let gateway: Scripted;
let network: Wire;
beforeEach(async () => {
  gateway = await Scripted.start();
  network = new Wire();
  gateway.replies.stream = [streams([...begun("Hello"), ...ended()])];
});
afterEach(() => gateway.end());

test("while there is no network nothing is asked for, and once it is back the turn goes on", async () => {
  gateway.replies.chat = [streams(begun("Hel"), "breaks")];
  const transport = gateway.transport({ network });
  const lines: string[] = [];
  transport.subscribe(() => lines.push(transport.getState().line));
  const stream = await transport.sendMessages(prompt());
  network.online = false;
  const found = all(stream);
  await until(() => transport.getState().line === "offline");
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(gateway.times("stream"), 0);
  network.back();

  assert.deepEqual((await found).at(-1), { type: "finish" });
  assert.equal(gateway.times("stream"), 1);
  assert.equal(lines.at(-1), "idle");
  assert.deepEqual([...new Set(lines)], ["idle", "open", "offline", "reconnecting"]);
  assert.equal(network.listeners, 0);
});

test("the wait for a network is bounded", async () => {
  gateway.replies.chat = [streams(begun("Hel"), "breaks")];
  network.online = false;
  const transport = gateway.transport({ network, limits: { ...QUICK, offlineMs: 20 } });

  assert.deepEqual((await all(await transport.sendMessages(prompt()))).at(-1), { type: "finish" });
});

test("it is waited for once, and not before each try", async () => {
  gateway.replies.chat = gateway.replies.stream = gateway.replies.messages = [breaks];
  network.online = false;
  const transport = gateway.transport({ network, limits: { ...QUICK, offlineMs: 20 } });
  const lines: string[] = [];
  transport.subscribe(() => lines.push(transport.getState().line));
  await assert.rejects(all(await transport.sendMessages(prompt())), { code: "connection_lost" });

  assert.equal(lines.filter((line) => line === "offline").length, 1);
});

test("but again when there was a network in between", async () => {
  const states: string[] = [];
  const limits = { ...LIMITS, waitsMs: [0, 0, 0, 0], offlineMs: 5 };
  const retries = new Retries(limits, network, new AbortController().signal, (state) => states.push(state));
  for (const online of [false, false, true, false]) {
    network.online = online;
    await retries.wait(new Error("No"));
  }

  assert.deepEqual(states.map((state) => state === "offline"), [true, false, false, false, true, false]);
});

test("a stream that was open when the network came back is read anew: it may hang", async () => {
  gateway.replies.chat = [streams(begun("Hel"), "stays")];
  const transport = gateway.transport({ network });
  const found = all(await transport.sendMessages(prompt()));
  await until(() => network.listeners > 0);
  await new Promise((resolve) => setTimeout(resolve, 50));
  network.back();

  assert.deepEqual((await found).at(-1), { type: "finish" });
});

test("a stream that is left listens to nothing any more", async () => {
  gateway.replies.chat = [streams(begun("Hel"), "stays")];
  const transport = gateway.transport({ network });
  const reader = (await transport.sendMessages(prompt())).getReader();
  await reader.read();
  await reader.cancel();
  await until(() => network.listeners === 0);

  assert.equal(transport.getState().line, "idle");
  assert.equal(gateway.times("stop"), 0);
});
