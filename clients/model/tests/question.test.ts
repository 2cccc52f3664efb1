import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import { type CallOptions, CARRIED, EFFORTS, NOT_CARRIED, question } from "../src/question.js";

const PROMPT = [{ role: "user", content: [{ type: "text", text: "hi" }] }];
const SENT = { model: "m", transcript: [{ type: "user", parts: [{ type: "text", text: "hi" }] }] };

function made(options: object, settings = {}) {
  const { question: sent, warnings } = question("m", { prompt: PROMPT, ...options } as CallOptions, settings);
  const { model, transcript, ...rest } = sent;
  assert.deepEqual({ model, transcript }, SENT);
  return { rest, warnings: warnings.map(({ feature, details }) => `${feature}: ${details}`) };
}

test("settings go into their fields", () => {
  const { rest, warnings } = made({ maxOutputTokens: 5, temperature: 0, topP: 0.5, stopSequences: ["x"] });

  assert.deepEqual(rest, { max_tokens: 5, temperature: 0, top_p: 0.5, stop: ["x"] });
  assert.deepEqual(warnings, []);
});

test("settings without a field are told", () => {
  const { rest, warnings } = made({ topK: 1, presencePenalty: 0, frequencyPenalty: 1, seed: 7, includeRawChunks: true });

  assert.deepEqual(rest, {});
  assert.deepEqual(warnings, [
    "topK: it is not sent",
    "presencePenalty: it is not sent",
    "frequencyPenalty: it is not sent",
    "seed: it is not sent",
    "includeRawChunks: the provider's own events stay at the server",
  ]);
  assert.deepEqual(made({ topK: undefined, includeRawChunks: false }).warnings, []);
});

test("tools are those of the program; a provider's are told", () => {
  const schema = { type: "object" };
  const tools = [
    { type: "function", name: "a", description: "A", inputSchema: schema },
    { type: "function", name: "b", inputSchema: schema, strict: true, inputExamples: [] },
    { type: "provider", name: "c", id: "p.c", args: {} },
  ];
  const { rest, warnings } = made({ tools, toolChoice: { type: "tool", toolName: "a" } });

  assert.deepEqual(rest, { tools: [{ name: "a", description: "A", schema }, { name: "b", schema }], tool_choice: { name: "a" } });
  assert.deepEqual(warnings, [
    "tools.b: strict is not sent: the server holds the model to a schema where nothing of it is lost",
    "tools.b: inputExamples are not sent",
    "tools.c: a tool of a provider is not sent",
  ]);
  for (const type of ["auto", "none", "required"]) {
    assert.deepEqual(made({ toolChoice: { type } }).rest, { tool_choice: type });
  }
});

test("an answer may have a schema", () => {
  assert.deepEqual(made({ responseFormat: { type: "json", schema: { type: "object" } } }).rest, {
    answer_schema: { type: "object" },
  });
  assert.deepEqual(made({ responseFormat: { type: "json" } }).warnings, [
    "responseFormat: JSON without a schema is not asked for",
  ]);
  assert.deepEqual(made({ responseFormat: { type: "text" } }), { rest: {}, warnings: [] });
});

test("the call decides how much is thought, and else the model's options", () => {
  assert.deepEqual(made({ reasoning: "low" }, { effort: "high" }), { rest: { effort: "low" }, warnings: [] });
  assert.deepEqual(made({ reasoning: "provider-default" }, { effort: "high" }).rest, { effort: "high" });
  const own = { providerOptions: { turnwire: { effort: "none", parallelTools: false, odd: 1 }, other: { a: 1 } } };
  assert.deepEqual(made(own, { effort: "high" }), {
    rest: { effort: "none", parallel_tools: false },
    warnings: ["providerOptions.turnwire.odd: there is no such setting"],
  });
  assert.deepEqual(made({ reasoning: "max" }), { rest: { effort: "high" }, warnings: ["reasoning: max is sent as high"] });
  assert.deepEqual(made({ reasoning: "odd" }), { rest: {}, warnings: ["reasoning: it is not sent"] });
});

test("a character that was cut in halves is sent as one that stands for it", () => {
  const prompt = [{ role: "user", content: [{ type: "text", text: "a\ud83d b\ud83d\ude00" }] }];
  const { body, warnings } = question("m", { prompt } as CallOptions, {});

  assert.match(body, /"text":"a\ufffd b\ud83d\ude00"/);
  assert.deepEqual(warnings, [{ feature: "prompt", details: "half of a character is sent as U+FFFD" }]);
  assert.equal(made({}).warnings.length, 0);
});

test("the README has the tables", async () => {
  const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8");
  const rows = [
    ...Object.entries(CARRIED).map(([name, field]) => `| \`${name}\` | \`${field}\` |`),
    `| ${NOT_CARRIED.map((name) => `\`${name}\``).join(", ")} | a warning |`,
    ...Object.entries(EFFORTS)
      .filter(([word, effort]) => word !== effort)
      .map(([word, effort]) => `| \`reasoning: "${word}"\` | \`effort: "${effort}"\`, and a warning |`),
  ];
  for (const row of rows) assert.ok(readme.includes(row), row);
});
