import assert from "node:assert/strict";
import { test } from "node:test";

import type { LanguageModelV2, LanguageModelV3, LanguageModelV4 } from "@ai-sdk/provider";

import { createTurnwire } from "../src/index.js";
import { FAILED, TABLES, translated } from "../src/versions.js";
import type { Part } from "../src/wire.js";

const NATIVE = { shape: "chat", provider: "p", model: "m", blocks: "[1.50]" };
const FINISH: Part = {
  type: "finish",
  finishReason: { unified: "tool-calls", raw: "tool_use" },
  usage: {
    inputTokens: { total: 10, noCache: 5, cacheRead: 4, cacheWrite: 1 },
    outputTokens: { total: 6, text: 4, reasoning: 2 },
  },
};

for (const specification of ["v2", "v3", "v4"] as const) {
  test(`${specification}: parts that are the same everywhere`, () => {
    const parts: Part[] = [
      { type: "response-metadata", id: "r", modelId: "m" },
      { type: "text-start", id: "0" },
      { type: "text-delta", id: "0", delta: "a" },
      { type: "text-end", id: "0" },
      { type: "reasoning-start", id: "1" },
      { type: "reasoning-delta", id: "1", delta: "b" },
      { type: "reasoning-end", id: "1" },
      { type: "reasoning-end", id: "native", providerMetadata: { turnwire: { native: NATIVE } } },
      { type: "tool-input-start", id: "c", toolName: "t" },
      { type: "tool-input-delta", id: "c", delta: "{" },
      { type: "tool-input-end", id: "c" },
      { type: "tool-call", toolCallId: "c", toolName: "t", input: "{}" },
      { type: "source", sourceType: "url", id: "u", url: "u", title: "T" },
    ];

    assert.deepEqual(parts.map((part) => translated(specification, part, [])), parts);
    const others = ["stream-start", "file", "finish", "error"];
    assert.deepEqual(new Set(Object.keys(TABLES[specification])), new Set([...parts.map(({ type }) => type), ...others]));
  });

  test(`${specification}: a part of a newer server is left out`, () => {
    assert.equal(translated(specification, { type: "later" } as never, []), undefined);
    assert.equal(translated(specification, { type: "constructor" } as never, []), undefined);
  });

  test(`${specification}: an error has its fields`, () => {
    const fault = { kind: "rate-limited", retryable: true, status: 429, retryAfterS: 2 };
    const part = translated(specification, { type: "error", error: fault }, []) as { error: Error };

    assert.deepEqual({ ...part.error }, { ...fault, name: "TurnwireError" });
    assert.equal(part.error.message, "The call of the model failed: rate-limited");
  });
}

test("usage and reasons", () => {
  for (const specification of ["v3", "v4"] as const) {
    assert.deepEqual(translated(specification, FINISH, []), FINISH);
    assert.deepEqual(translated(specification, FAILED, []), {
      type: "finish",
      finishReason: { unified: "error", raw: undefined },
      usage: {
        inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
        outputTokens: { total: undefined, text: undefined, reasoning: undefined },
      },
    });
  }
  assert.deepEqual(translated("v2", FINISH, []), {
    type: "finish",
    finishReason: "tool-calls",
    usage: { inputTokens: 10, outputTokens: 6, totalTokens: 16, reasoningTokens: 2, cachedInputTokens: 4 },
  });
  assert.deepEqual(translated("v2", FAILED, []), {
    type: "finish",
    finishReason: "error",
    usage: {
      inputTokens: undefined,
      outputTokens: undefined,
      totalTokens: undefined,
      reasoningTokens: undefined,
      cachedInputTokens: undefined,
    },
  });
});

test("a file", () => {
  const file: Part = { type: "file", mediaType: "image/png", data: { type: "data", data: "AA==" } };

  assert.deepEqual(translated("v4", file, []), file);
  for (const specification of ["v2", "v3"] as const) {
    assert.deepEqual(translated(specification, file, []), { ...file, data: "AA==" });
  }
});

test("warnings of the program come before those of the server", () => {
  const tool = { type: "provider", name: "c" };
  const own = [
    { feature: "topK", details: "A" },
    { feature: "prompt[1]", details: "B" },
    { feature: "tools.c", details: "C", tool },
  ];
  const start: Part = { type: "stream-start", warnings: [{ type: "unsupported", feature: "stop", details: "D" }] };
  const unsupported = (feature: string, details: string) => ({ type: "unsupported", feature, details });

  for (const specification of ["v3", "v4"] as const) {
    assert.deepEqual(translated(specification, start, own), {
      type: "stream-start",
      warnings: [unsupported("topK", "A"), unsupported("prompt[1]", "B"), unsupported("tools.c", "C"), unsupported("stop", "D")],
    });
  }
  assert.deepEqual(translated("v2", start, own), {
    type: "stream-start",
    warnings: [
      { type: "unsupported-setting", setting: "topK", details: "A" },
      { type: "other", message: "prompt[1]: B" },
      { type: "unsupported-tool", tool, details: "C" },
      { type: "other", message: "stop: D" },
    ],
  });
});

test("a model is of the type of its specification", () => {
  const turnwire = createTurnwire({ baseURL: "http://127.0.0.1:8790" });
  const supportedUrls = { "image/*": [/^https:/] };
  const v2: LanguageModelV2 = turnwire.model("m", { specification: "v2" });
  const v3: LanguageModelV3 = turnwire.model("m", { specification: "v3", effort: "low" });
  const v4: LanguageModelV4 = turnwire.model("m", { supportedUrls });

  assert.deepEqual([v2, v3, v4].map((model) => [model.specificationVersion, model.provider, model.modelId]), [
    ["v2", "turnwire", "m"],
    ["v3", "turnwire", "m"],
    ["v4", "turnwire", "m"],
  ]);
  assert.equal(v4.supportedUrls, supportedUrls);
});
