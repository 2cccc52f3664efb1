import assert from "node:assert/strict";
import { test } from "node:test";

import { createTurnwire } from "../src/index.js";

const START = 'data: {"type":"stream-start","warnings":[]}\n\n';
const ERROR = 'data: {"type":"error","error":{"kind":"server","retryable":true}}\n\n';
const OPTIONS = { prompt: [{ role: "user" as const, content: [{ type: "text" as const, text: "hi" }] }] };

test("an answer that failed has an end, as those of the SDK's own providers have", async () => {
  const turnwire = createTurnwire({ baseURL: "http://models.example", fetch: async () => new Response(START + ERROR) });
  for (const specification of ["v2", "v3", "v4"] as const) {
    const { stream, request } = await turnwire.model("m", { specification }).doStream(OPTIONS);
    const types: string[] = [];
    for await (const part of stream as unknown as AsyncIterable<{ type: string }>) types.push(part.type);

    assert.deepEqual(types, ["stream-start", "error", "finish"]);
    assert.deepEqual(request?.body, {
      model: "m",
      transcript: [{ type: "user", parts: [{ type: "text", text: "hi" }] }],
    });
  }
});
