import assert from "node:assert/strict";
import { test } from "node:test";

import { type Prompt, transcript } from "../src/transcript.js";
import { Warnings } from "../src/warnings.js";

const NATIVE = { shape: "messages", provider: "anthropic", model: "m", blocks: '[{"x":1.50}]' };
const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function read(prompt: unknown) {
  const warnings = new Warnings();
  return { ...transcript(prompt as Prompt, warnings), warnings: warnings.all.map(({ details }) => details) };
}

const user = (...content: unknown[]) => [{ role: "user", content }];
const assistant = (...content: unknown[]) => [{ role: "assistant", content }];
const tool = (...outputs: unknown[]) => ({
  role: "tool",
  content: outputs.map((output, at) => ({ type: "tool-result", toolCallId: `c${at}`, toolName: "t", output })),
});

test("system messages are the instructions; a later one is told", () => {
  const system = (content: string) => ({ role: "system", content });
  const first = read([system("A"), system("B"), ...user({ type: "text", text: "hi" })]);
  const later = read([system("A"), ...user({ type: "text", text: "hi" }), system("B")]);

  assert.deepEqual(first, {
    instructions: "A\n\nB",
    messages: [{ type: "user", parts: [{ type: "text", text: "hi" }] }],
    warnings: [],
  });
  assert.equal(later.instructions, "A\n\nB");
  assert.deepEqual(later.warnings, ["a later system message is sent with the first one"]);
});

for (const [form, data, mediaType, sent] of [
  ["bytes", PNG, "image/png", { type: "image", media_type: "image/png", data: "iVBORw0KGgo=" }],
  ["base64", "iVBORw0KGgo=", "image/*", { type: "image", media_type: "image/png", data: "iVBORw0KGgo=" }],
  ["an address", new URL("https://a.example/x.png"), "image/*", { type: "image", media_type: "image/*", url: "https://a.example/x.png" }],
  ["an address as text", "https://a.example/x.png", "image/png", { type: "image", media_type: "image/png", url: "https://a.example/x.png" }],
  ["an address with its data", new URL("data:text/plain,a%20b"), "text/plain", { type: "file", media_type: "text/plain", data: "YSBi", name: "n" }],
  ["base64 in an address", "data:image/png;base64,iVBORw0KGgo=", "image", { type: "image", media_type: "image/png", data: "iVBORw0KGgo=" }],
  ["bytes of V4", { type: "data", data: PNG }, "image", { type: "image", media_type: "image/png", data: "iVBORw0KGgo=" }],
  ["an address of V4", { type: "url", url: new URL("https://a.example/") }, "application/pdf", { type: "file", media_type: "application/pdf", url: "https://a.example/", name: "n" }],
  ["a text of V4", { type: "text", text: "ä" }, "text/plain", { type: "file", media_type: "text/plain", data: "w6Q=", name: "n" }],
] as const) {
  test(`a file as ${form}`, () => {
    const { messages, warnings } = read(user({ type: "file", data, mediaType, filename: "n" }));

    assert.deepEqual(messages, [{ type: "user", parts: [sent] }]);
    assert.deepEqual(warnings, []);
  });
}

test("a large file is no argument list", () => {
  const { messages } = read(user({ type: "file", data: new Uint8Array(300_000), mediaType: "application/pdf" }));

  assert.match(JSON.stringify(messages), /"data":"A{400000}"/);
});

test("files that nobody can read are told, and dropped", () => {
  const byReference = read(user({ type: "file", mediaType: "image/png", data: { type: "reference", reference: { p: "f" } } }));
  const unseen = read(user({ type: "file", mediaType: "image/*", data: "AAAA" }));

  assert.deepEqual(byReference.warnings, ["a file by reference is dropped: it is known to its own provider only"]);
  assert.deepEqual(unseen.warnings, ["a file is dropped: what image/* it is cannot be seen"]);
  assert.deepEqual(unseen.messages, [{ type: "user", parts: [] }]);
});

test("an answer has its native blocks; the empty block that carries them is nothing else", () => {
  const { messages, warnings } = read(
    assistant(
      { type: "reasoning", text: "thought" },
      { type: "text", text: "Yes." },
      { type: "tool-call", toolCallId: "c", toolName: "t", input: { a: 1 } },
      { type: "tool-call", toolCallId: "d", toolName: "t", input: '{"a": ' },
      { type: "file", data: PNG, mediaType: "image/png" },
      { type: "reasoning", text: "", providerOptions: { turnwire: { native: NATIVE } } },
    ),
  );

  assert.deepEqual(messages, [
    {
      type: "assistant",
      parts: [
        { type: "reasoning", text: "thought" },
        { type: "text", text: "Yes." },
        { type: "call", id: "c", name: "t", arguments: '{"a":1}' },
        { type: "call", id: "d", name: "t", arguments: '{"a": ' },
        { type: "image", media_type: "image/png", data: "iVBORw0KGgo=" },
      ],
      native: NATIVE,
    },
  ]);
  assert.deepEqual(warnings, []);
});

test("native blocks that are none, or of two answers, stay away", () => {
  const carried = (native: unknown) => ({ type: "reasoning", text: "", providerOptions: { turnwire: { native } } });
  const broken = read(assistant(carried({ ...NATIVE, blocks: [] }), carried(null), carried("x")));
  const two = read(assistant(carried(NATIVE), carried(NATIVE)));

  assert.deepEqual(broken, { instructions: "", messages: [{ type: "assistant", parts: [] }], warnings: [] });
  assert.deepEqual(two.messages, [{ type: "assistant", parts: [] }]);
  assert.deepEqual(two.warnings, ["two answers are one message: the blocks of the provider are not sent back"]);
});

test("what no provider of ours takes is told", () => {
  const { messages, warnings } = read([
    ...assistant(
      { type: "tool-call", toolCallId: "c", toolName: "t", input: {}, providerExecuted: true },
      { type: "tool-result", toolCallId: "c", toolName: "t", output: { type: "text", value: "x" } },
      { type: "custom", kind: "a.b" },
      { type: "reasoning-file", data: { type: "data", data: "" }, mediaType: "image/png" },
    ),
    { role: "tool", content: [{ type: "tool-approval-response", approvalId: "a", approved: true }] },
    ...user({ type: "odd" }),
    { role: "odd", content: [] },
  ]);

  assert.deepEqual(messages, [
    { type: "assistant", parts: [] },
    { type: "user", parts: [] },
  ]);
  assert.deepEqual(warnings, [
    "a part of the type tool-call is dropped",
    "a part of the type tool-result is dropped",
    "a part of the type custom is dropped",
    "a part of the type reasoning-file is dropped",
    "a part of the type tool-approval-response is dropped",
    "a part of the type odd is dropped",
    "a message of the role odd is dropped",
  ]);
});

const text = (value: string) => [{ type: "text", text: value }];
for (const [output, outcome, content] of [
  [{ type: "text", value: "a" }, "done", text("a")],
  [{ type: "text", value: "" }, "done", []],
  [{ type: "json", value: { a: [1] } }, "done", text('{"a":[1]}')],
  [{ type: "json" }, "done", text("null")],
  [{ type: "error-text", value: "no" }, "failed", text("no")],
  [{ type: "error-json", value: ["no"] }, "failed", text('["no"]')],
  [{ type: "execution-denied", reason: "later" }, "denied", text("later")],
  [{ type: "execution-denied" }, "denied", []],
  [{ type: "content", value: [{ type: "text", text: "a" }, { type: "media", data: "AA==", mediaType: "image/png" }] }, "done", [...text("a"), { type: "image", media_type: "image/png", data: "AA==" }]],
  [{ type: "content", value: [{ type: "image-data", data: "AA==", mediaType: "image/png" }] }, "done", [{ type: "image", media_type: "image/png", data: "AA==" }]],
  [{ type: "content", value: [{ type: "image-url", url: "https://a.example/" }] }, "done", [{ type: "image", media_type: "image/*", url: "https://a.example/" }]],
  [{ type: "content", value: [{ type: "file-data", data: "AA==", mediaType: "application/pdf", filename: "n" }] }, "done", [{ type: "file", media_type: "application/pdf", data: "AA==", name: "n" }]],
  [{ type: "content", value: [{ type: "file", data: { type: "data", data: "AA==" }, mediaType: "image/png" }] }, "done", [{ type: "image", media_type: "image/png", data: "AA==" }]],
] as const) {
  test(`an output as ${JSON.stringify(output)}`, () => {
    const { messages, warnings } = read([tool(output)]);

    assert.deepEqual(messages, [{ type: "results", results: [{ call_id: "c0", name: "t", content, outcome }] }]);
    assert.deepEqual(warnings, []);
  });
}

test("outputs that cannot be carried are told", () => {
  const pieces = ["file-url", "file-id", "image-file-id", "custom"].map((type) => ({ type, url: "https://a.example/" }));
  const { messages, warnings } = read([tool({ type: "content", value: pieces }, { type: "odd" })]);

  assert.deepEqual(warnings, [
    "file-url in an output is dropped",
    "file-id in an output is dropped",
    "image-file-id in an output is dropped",
    "custom in an output is dropped",
    "an output of the type odd is dropped",
  ]);
  const [results] = messages;
  assert.ok(results?.type === "results");
  assert.deepEqual(results.results.map(({ outcome, content }) => [outcome, content]), [
    ["done", []],
    ["failed", []],
  ]);
});

test("results of one answer are one message, in whatever they came", () => {
  const { messages } = read([tool({ type: "text", value: "a" }), tool({ type: "text", value: "b" })]);

  assert.equal(messages.length, 1);
  assert.ok(messages[0]?.type === "results" && messages[0].results.length === 2);
});
