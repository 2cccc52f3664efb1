// The package with one release of the real `ai`, before a real gateway and the lab's agent.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, suite, test } from "node:test";
import { pathToFileURL } from "node:url";

import type { ChatInit, UIMessage } from "ai";

import type * as Client from "../src/index.js";
import { client, installed } from "./packed.js";
import { type Chat, lasting, partsOf, textOf } from "./shown.js";
import { newSession, ROOT, Stage, until } from "./stage.js";

type Approves = (state: { messages: UIMessage[] }) => boolean;

/** What the tests use of `ai` and `@ai-sdk/react`; their versions agree in that. */
interface SDK {
  Chat: new (init: ChatInit<UIMessage>) => Chat;
  ai: { lastAssistantMessageIsCompleteWithApprovalResponses?: Approves };
}

const STORY = "tell me a long story";

async function sdk(version: string): Promise<SDK> {
  assert.ok(existsSync(`${ROOT}tests/clients/${version}/node_modules/ai`), "not installed: `make node` does it");
  return (await import(pathToFileURL(`${ROOT}tests/clients/${version}/index.mjs`).href)) as SDK;
}

export function suiteOf(version: string): void {
  suite(`ai ${version}`, () => {
    let stage: Stage;
    let the: SDK;
    let its: typeof Client;
    before(async () => {
      its = await client(await installed(`app-${version}`));
      the = await sdk(version);
      stage = await Stage.start();
    });
    after(() => stage.end());

    function opened(options: Partial<Client.TransportOptions> = {}, init: ChatInit<UIMessage> = {}) {
      const transport = its.turnwireTransport({ url: stage.url, token: () => stage.token, storage: null, ...options });
      const errors: Error[] = [];
      const chat = new the.Chat({ id: newSession(), transport, onError: (error) => errors.push(error), ...init });
      return { chat, transport, errors };
    }

    async function whole(prompt: string): Promise<UIMessage["parts"]> {
      const { chat, errors } = opened();
      await chat.sendMessage({ text: prompt });
      assert.deepEqual(errors, []);
      return partsOf(chat);
    }

    /** Break the line. The connections that `fetch` keeps for later are broken too, and it does not see that at once. */
    async function cut(): Promise<void> {
      await stage.command("cut");
      const { transport } = opened({ sessionId: newSession() });
      const isSound = () => transport.session().history().then(() => true, () => false);
      for (let sound = 0; sound < 3; ) sound = (await isSound()) ? sound + 1 : 0;
    }

    /** It takes seconds. */
    const story = () => (told ??= whole(STORY));
    let told: Promise<UIMessage["parts"]> | undefined;

    /** Send, and break the line as soon as so much is shown. */
    async function broken(prompt: string, isTime: (chat: Chat) => boolean) {
      const { chat, transport, errors } = opened();
      const sent = chat.sendMessage({ text: prompt });
      await until(() => isTime(chat));
      await cut();
      await sent;
      return { chat, transport, errors };
    }

    test("text and a tool", async () => {
      const { chat, transport, errors } = opened();
      await chat.sendMessage({ text: "what is 12*7?" });

      assert.deepEqual(errors, []);
      assert.equal(textOf(chat), "Let me work that out. 12*7 is **84**.\n");
      const call = partsOf(chat).find(({ type }) => type === "tool-calculator");
      assert.deepEqual((call as { output?: unknown }).output, { expression: "12*7", value: 84 });
      assert.equal(chat.status, "ready");
      assert.equal(transport.getState().line, "idle");
    });

    test("a question is answered while the stream is open", async () => {
      const { chat, transport } = opened();
      const session = transport.session(chat.id);
      const sent = chat.sendMessage({ text: "ask me: tea or coffee?" });
      const question = () => partsOf(chat).find(({ type }) => type === "data-question") as { id: string; data: { options: string[] } };
      await until(() => question() !== undefined);
      const { id, data } = question();
      await Promise.all([session.answer(id, data.options[0]), session.answer(id, data.options[0])]);
      await sent;

      assert.equal((question().data as { state?: unknown }).state, "resolved");
      assert.match(textOf(chat), new RegExp(data.options[0] ?? "-"));
      await assert.rejects(opened().transport.session(chat.id).answer(id, "late"), { name: "RefusedError", code: "question_closed" });
    });

    test("a native approval", { skip: version.startsWith("v5") }, async () => {
      const helper = the.ai.lastAssistantMessageIsCompleteWithApprovalResponses as Approves;
      const { chat, errors } = opened({ profile: "7" }, { sendAutomaticallyWhen: helper });
      await chat.sendMessage({ text: "approve 12*7" });
      const card = partsOf(chat).find(({ type }) => type === "tool-calculator") as { state: string; approval: { id: string } };
      assert.equal(card.state, "approval-requested");
      await chat.addToolApprovalResponse({ id: card.approval.id, approved: true });
      await until(() => textOf(chat).includes("84"));
      await until(() => chat.status === "ready");

      assert.deepEqual(errors, []);
      assert.equal(partsOf(chat).filter(({ type }) => type === "tool-calculator").length, 1);
      assert.equal(chat.messages.length, 2);
    });

    test("stop ends the agent's turn, and the next prompt has one of its own", async () => {
      const { chat, transport } = opened();
      const sent = chat.sendMessage({ text: STORY });
      await until(() => textOf(chat).length > 20);
      await chat.stop();
      await sent;
      await transport.settled();

      assert.deepEqual(await stage.ended(chat.id), ["canceled"]);
      assert.equal(chat.status, "ready");
      await chat.sendMessage({ text: "what is 12*7?" });
      assert.match(textOf(chat), /84/);
    });

    test("stop before the answer begins ends the agent's turn", async () => {
      const { chat, transport } = opened();
      const sent = chat.sendMessage({ text: STORY });
      await until(() => chat.status !== "ready"); // on a fast machine it is past "submitted" soon
      await chat.stop();
      await sent;
      await transport.settled();
      const reasons = (await stage.command("runs", chat.id)) as unknown[];

      assert.ok(reasons.every((reason) => reason === "canceled"), JSON.stringify(reasons));
    });

    test("a turn that is left, as by a page that is closed, goes on", async () => {
      const { chat, transport } = opened();
      const sent = chat.sendMessage({ text: STORY });
      await until(() => textOf(chat).length > 20);
      transport.leave();
      await sent;

      const next = opened({}, { id: chat.id });
      const resumed = next.chat.resumeStream();
      await until(() => textOf(next.chat).length > 80);
      assert.deepEqual(await stage.command("runs", chat.id), [null]);
      await next.chat.stop();
      await resumed;
      assert.deepEqual(await stage.ended(chat.id), ["canceled"]);
    });

    test("a line that breaks in mid-turn: the message is that of a whole one", async () => {
      const { chat, transport, errors } = await broken(STORY, (chat) => textOf(chat).length >= 200);

      assert.deepEqual(errors, []);
      assert.equal(chat.status, "ready");
      assert.equal(chat.messages.length, 2);
      assert.deepEqual(lasting(partsOf(chat)), lasting(await story()));
      const history = await transport.session(chat.id).history();
      assert.deepEqual(partsOf(chat).map(({ type }) => type), history?.at(-1)?.parts.map(({ type }) => type));
    });

    const shows = (type: string) => (chat: Chat) => partsOf(chat).some((part) => part.type === type);
    for (const [prompt, place, isTime] of [
      ["what is 12*7?", "a tool", shows("tool-calculator")],
      ["think about rivers", "reasoning", shows("reasoning")],
      ["think about rivers", "the first text", (chat: Chat) => textOf(chat).length > 0],
      ["search for keepalive", "text after a tool", (chat: Chat) => textOf(chat).includes("I found")],
    ] as const) {
      test(`a line that breaks at ${place}`, async () => {
        const { chat, errors } = await broken(prompt, isTime);

        assert.deepEqual(errors, []);
        assert.deepEqual(lasting(partsOf(chat)), lasting(await whole(prompt)));
      });
    }

    test("a line that breaks at a question", async () => {
      const { chat, transport } = opened();
      const lines: string[] = [];
      transport.subscribe(() => lines.push(transport.getState().line));
      const sent = chat.sendMessage({ text: "ask me: tea or coffee?" });
      await until(() => shows("data-question")(chat));
      await cut();
      await until(() => lines.slice(lines.indexOf("reconnecting") + 1).includes("open") && lines.includes("reconnecting"));
      const question = partsOf(chat).find(({ type }) => type === "data-question") as { id: string; data: { options: string[] } };
      await transport.session(chat.id).answer(question.id, question.data.options[0]);
      await sent;

      assert.equal(partsOf(chat).filter(({ type }) => type === "data-question").length, 1);
      assert.match(textOf(chat), new RegExp(question.data.options[0] ?? "-"));
    });

    test("a gateway that is restarted in mid-turn", async () => {
      const { chat, errors } = opened();
      const sent = chat.sendMessage({ text: STORY });
      await until(() => textOf(chat).length > 20);
      await stage.command("restart");
      await sent;

      assert.deepEqual(errors, []);
      assert.deepEqual(lasting(partsOf(chat)), lasting(await story()));
    });

    test("a token that is refused is asked for anew, once", async () => {
      const asked: boolean[] = [];
      const token = ({ refresh }: { refresh: boolean }) => (asked.push(refresh), refresh ? stage.token : stage.expired);
      const { chat } = opened({ token });
      await chat.sendMessage({ text: "what is 12*7?" });
      assert.match(textOf(chat), /84/);
      assert.deepEqual(asked, [false, true]);

      const refused = opened({ token: () => stage.expired });
      await refused.chat.sendMessage({ text: "what is 12*7?" });
      assert.deepEqual(refused.errors.map((error) => (error as Client.RefusedError).status), [401]);
    });

    test("after a reload the history has it all", async () => {
      const { chat } = opened();
      await chat.sendMessage({ text: "what is 12*7?" });
      const { transport } = opened();
      const history = await transport.session(chat.id).history();

      assert.deepEqual(history?.map(({ id }) => id), chat.messages.map(({ id }) => id));
      assert.deepEqual(lasting(history?.at(-1)?.parts ?? []), lasting(partsOf(chat)));
      const again = opened({}, { id: chat.id, messages: history ?? [] });
      await again.chat.resumeStream();
      assert.deepEqual(again.chat.messages, history);
      assert.equal(again.chat.status, "ready");
    });
  });
}
