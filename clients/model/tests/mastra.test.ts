// Mastra's real `Agent` on the models, through the real server.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, suite, test } from "node:test";
import { pathToFileURL } from "node:url";

import { createTurnwire, type Specification } from "../src/index.js";
import { BUSY, CALLS, ROOT, Stage, SUNNY } from "./stage.js";

/** What the tests use of Mastra. */
interface Mastra {
  Agent: new (options: object) => {
    stream(prompt: string, options?: object): Promise<{
      textStream: AsyncIterable<string>;
      fullStream: AsyncIterable<{ type: string }>;
      text: Promise<string>;
      finishReason: Promise<string>;
      error: unknown;
    }>;
  };
  createTool(options: object): unknown;
  z: { object(fields: object): unknown; string(): unknown; number(): { optional(): unknown } };
}

const FOLDER = `${ROOT}clients/model/tests/mastra/`;

suite("Mastra's Agent", () => {
  let stage: Stage;
  let mastra: Mastra;
  before(async () => {
    assert.ok(existsSync(`${FOLDER}node_modules/@mastra/core`), "not installed: `make model` does it");
    mastra = (await import(pathToFileURL(`${FOLDER}index.mjs`).href)) as Mastra;
    stage = await Stage.start();
  });
  after(() => stage.end());

  function agent(specification: Specification, inputs: unknown[] = []) {
    const { z } = mastra;
    return new mastra.Agent({
      id: "outside",
      name: "outside",
      instructions: "Be brief.",
      model: createTurnwire({ baseURL: stage.url, token: stage.token }).model("deep", { specification }),
      tools: {
        weather: mastra.createTool({
          id: "weather",
          description: "Looks",
          inputSchema: z.object({ city: z.string(), days: z.number().optional() }),
          execute: async (input: unknown) => (inputs.push(input), { sky: "blue" }),
        }),
      },
    });
  }

  for (const specification of ["v4", "v3", "v2"] as const) {
    test(`two steps with a tool, ${specification}`, async () => {
      await stage.answers({ body: CALLS }, { body: SUNNY });
      const inputs: unknown[] = [];
      const streamed = await agent(specification, inputs).stream("How is the weather?");
      let text = "";
      for await (const delta of streamed.textStream) text += delta;
      const [, sent = ""] = await stage.asked();

      assert.equal(text, "It is sunny.");
      assert.equal(inputs.length, 1);
      assert.match(JSON.stringify(inputs), /"city":"Rome"/);
      assert.match(sent, /"signature":"c2lnbmF0dXJl\/\+=="/);
      assert.match(sent, /1\.50/);
      assert.match(sent, /tool_result.*call_1.*blue/);
      assert.equal(await streamed.finishReason, "stop");
    });
  }

  test("a fault is an error without the provider's words", async () => {
    await stage.answers(BUSY);
    const streamed = await agent("v3").stream("How is the weather?");
    const types: string[] = [];
    for await (const part of streamed.fullStream) types.push(part.type);

    assert.ok(types.includes("error"), String(types));
    assert.match(String(streamed.error), /The call of the model failed: bad-request/);
  });
});
