// A look after an answer that broke, with a release of `ai` that appends to the answer what a resumed stream brings.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { pathToFileURL } from "node:url";

import type { ChatInit, UIMessage } from "ai";

import { isBusy, Look } from "../src/look.js";
import { begun, ended, QUICK, refuses, Scripted, streams } from "./scripted.js";
import { type Chat, textOf } from "./shown.js";
import { ROOT, until } from "./stage.js";

const OLD = pathToFileURL(`${ROOT}tests/clients/v6.0.0/index.mjs`).href;
let gateway: Scripted;
beforeEach(async () => {
  gateway = await Scripted.start();
});
afterEach(() => gateway.end());

for (const [name, reply, expected] of [
  ["goes on", streams([...begun("Hello"), ...ended()]), "Hello"],
  ["is over", (response) => response.writeHead(204).end(), "Hel"],
  ["is not known", refuses(404, "not_found"), "Hel"],
] as [string, ReturnType<typeof streams>, string][]) {
  test(`where an agent keeps no history, and the turn ${name}, the answer stands there once`, async () => {
    const sdk = (await import(OLD)) as { Chat: new (init: ChatInit<UIMessage>) => Chat };
    gateway.replies.messages = [refuses(501, "not_supported")];
    gateway.replies.chat = [streams(begun("Hel"), "breaks")];
    gateway.replies.stream = [refuses(404, "not_found"), reply];
    const transport = gateway.transport({ limits: QUICK });
    const look = new Look();
    const chat = new sdk.Chat({ id: "c1", transport: look.watched(transport) });
    await chat.sendMessage({ text: "Hi" });
    assert.equal(chat.status, "error");
    await look.take(chat, transport.session());
    await until(() => !isBusy(chat));

    assert.equal(textOf(chat), expected);
    assert.equal(chat.messages.length, 2);
  });
}

test("a stop ends the turn that a look found, though that release hands no signal on", async () => {
  const sdk = (await import(OLD)) as { Chat: new (init: ChatInit<UIMessage>) => Chat };
  gateway.replies.stream = [streams(begun("Hel"), "stays")];
  const transport = gateway.transport({ limits: QUICK });
  const look = new Look();
  const chat = new sdk.Chat({ id: "c1", transport: look.watched(transport) });
  await look.take(chat, transport.session());
  await until(() => textOf(chat) === "Hel");
  look.stop();
  await chat.stop();
  await transport.settled();

  assert.deepEqual(gateway.asked.at(-1)?.body, { turnId: "turn-1" });
  await until(() => chat.status === "ready");
});
