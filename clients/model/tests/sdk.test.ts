// The real `ai` 5, 6 and 7 on the models, through the real server.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, suite, test } from "node:test";
import { pathToFileURL } from "node:url";

import { createTurnwire, type Specification, TurnwireError } from "../src/index.js";
import { BEGINS, BUSY, CALLS, ROOT, Stage, SUNNY } from "./stage.js";

type Metadata = Record<string, Record<string, Record<string, string>>>;

interface Step {
  finishReason: string;
  text: string;
  usage: Record<string, unknown>;
  warnings: unknown[];
  /** `ai` 7 gives them in the form of a prompt. */
  reasoning: { text: string; providerMetadata?: Metadata; providerOptions?: Metadata }[];
}

interface Streamed {
  textStream: AsyncIterable<string>;
  fullStream: AsyncIterable<{ type: string; error?: unknown }>;
  text: PromiseLike<string>;
  finishReason: PromiseLike<string>;
  steps: PromiseLike<Step[]>;
}

/** What the tests use of `ai`; its versions agree in that. */
interface AI {
  streamText(options: object): Streamed;
  generateText(options: object): Promise<{ text: string; steps: Step[] }>;
  tool(definition: object): unknown;
  jsonSchema(schema: object): unknown;
  stepCountIs(count: number): unknown;
  APICallError: { isInstance(error: unknown): boolean };
}

const SDKS: [string, Specification][] = [
  ["v7.0.173", "v4"],
  ["v6.0.326", "v3"],
  ["v5.0.277", "v2"],
];

async function sdk(version: string): Promise<AI> {
  const file = `${ROOT}tests/clients/${version}/index.mjs`;
  assert.ok(existsSync(`${ROOT}tests/clients/${version}/node_modules/ai`), "not installed: `make node` does it");
  const { ai } = (await import(pathToFileURL(file).href)) as { ai: AI & { isStepCount?: AI["stepCountIs"] } };
  return { ...ai, stepCountIs: ai.stepCountIs ?? ai.isStepCount };
}

Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

const PARAMETERS = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "number" } },
  required: ["city"],
  additionalProperties: false,
};

for (const [version, specification] of SDKS) {
  suite(`ai ${version}, ${specification}`, () => {
    let stage: Stage;
    let ai: AI;
    const model = (route = "deep", token = stage.token) =>
      createTurnwire({ baseURL: stage.url, token }).model(route, { specification });
    before(async () => {
      ai = await sdk(version);
      stage = await Stage.start();
    });
    after(() => stage.end());

    function question(execute: () => unknown): object {
      return {
        model: model(),
        system: "Be brief.",
        prompt: "How is the weather?",
        tools: { weather: ai.tool({ description: "Looks", inputSchema: ai.jsonSchema(PARAMETERS), execute }) },
        stopWhen: ai.stepCountIs(3),
        topK: 5,
        onError: () => {},
      };
    }

    test("two steps with a tool: blocks of the provider go back byte for byte", async () => {
      await stage.answers({ body: CALLS }, { body: SUNNY });
      const inputs: unknown[] = [];
      const streamed = ai.streamText(question((...[input]: unknown[]) => (inputs.push(input), { sky: "blue" })));
      let text = "";
      for await (const delta of streamed.textStream) text += delta;
      const [first, second] = await streamed.steps;
      const [, sent = ""] = await stage.asked();

      assert.equal(text, "It is sunny.");
      assert.deepEqual(inputs, [{ city: "Rome", days: 1.5 }]);
      assert.equal(first?.finishReason, "tool-calls");
      assert.equal(second?.finishReason, "stop");
      assert.equal(first?.reasoning.map((each) => each.text).join(""), "Look outside.");
      const natives = first.reasoning
        .map(({ providerMetadata, providerOptions }) => (providerMetadata ?? providerOptions)?.["turnwire"]?.["native"])
        .filter((native) => native !== undefined);
      assert.equal(natives.length, 1);
      const blocks = natives[0]?.["blocks"] ?? "";
      assert.match(blocks, /"signature":"c2lnbmF0dXJl\/\+=="/);
      assert.match(blocks, /1\.50/);
      assert.ok(sent.includes(blocks.slice(1, -1)), sent);
      const body = JSON.parse(sent) as { system: unknown; messages: { role: string; content: unknown }[] };
      assert.match(JSON.stringify(body.system), /Be brief\./);
      assert.deepEqual(body.messages.map((each) => each.role), ["user", "assistant", "user"]);
      assert.match(JSON.stringify(body.messages[2]), /tool_result.*call_1.*sky.*blue/);
      assert.equal(first.warnings.length, 1);
      assert.match(JSON.stringify(first.warnings), /topK/);
      assert.deepEqual([first.usage["inputTokens"], first.usage["outputTokens"], first.usage["totalTokens"]], [10, 7, 17]);
    });

    test("a tool that fails is told as one", async () => {
      await stage.answers({ body: CALLS }, { body: SUNNY });
      const streamed = ai.streamText(
        question(() => {
          throw new Error("no window");
        }),
      );
      assert.equal(await streamed.text, "It is sunny.");
      const [, sent = ""] = await stage.asked();

      assert.match(sent, /"is_error":true/);
      assert.match(sent, /no window/);
    });

    test("a whole answer", async () => {
      await stage.answers({ body: CALLS }, { body: SUNNY });
      const { text, steps } = await ai.generateText(question(() => "blue"));
      const [, sent = ""] = await stage.asked();

      assert.equal(text, "It is sunny.");
      assert.match(JSON.stringify(steps[0]?.warnings), /topK/);
      assert.match(sent, /"signature":"c2lnbmF0dXJl\/\+=="/);
    });

    test("when it is aborted, the provider is hung up at once", async () => {
      await stage.answers({ body: BEGINS, silent: true });
      const abort = new AbortController();
      const streamed = ai.streamText({ ...question(() => ""), abortSignal: abort.signal });
      const types: string[] = [];
      for await (const part of streamed.fullStream) {
        types.push(part.type);
        if (part.type === "text-delta") abort.abort();
      }

      assert.ok((await stage.hungUp()) < 1000);
      assert.equal(types.at(-1), "abort");
    });

    test("a fault is an error with fields, and without the provider's words", async () => {
      await stage.answers(BUSY);
      const errors: unknown[] = [];
      const streamed = ai.streamText({ ...question(() => ""), onError: ({ error }: { error: unknown }) => errors.push(error) });
      for await (const _ of streamed.fullStream);

      assert.equal(errors.length, 1);
      const [error] = errors;
      assert.ok(error instanceof TurnwireError);
      assert.deepEqual([error.kind, error.retryable, error.status], ["bad-request", false, 400]);
      assert.doesNotMatch(error.message, /canary/);
      assert.equal(await streamed.finishReason, "error");
      await stage.answers(BUSY);
      await assert.rejects(ai.generateText(question(() => "")), (thrown) => thrown instanceof TurnwireError);
    });

    test("an answer that breaks off is an error", async () => {
      await stage.answers({ body: BEGINS });
      const errors: unknown[] = [];
      const streamed = ai.streamText({ ...question(() => ""), onError: ({ error }: { error: unknown }) => errors.push(error) });
      for await (const _ of streamed.fullStream);

      assert.deepEqual(errors.map((error) => (error as TurnwireError).kind), ["truncated"]);
    });

    test("a refused request is an error of the SDK with its status, and is not tried again", async () => {
      await stage.answers({ body: SUNNY });
      await assert.rejects(
        ai.generateText({ model: model("deep", "wrong"), prompt: "Hi" }),
        (error: { statusCode: number; message: string }) =>
          ai.APICallError.isInstance(error) &&
          error.statusCode === 401 &&
          error.message === "turnwire-agent answered 401: The bearer token is wrong.",
      );
      await assert.rejects(ai.generateText({ model: model("nobody"), prompt: "Hi" }), { statusCode: 404 });
      assert.deepEqual(await stage.asked(), []);
    });
  });
}
