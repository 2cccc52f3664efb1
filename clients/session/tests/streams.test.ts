import assert from "node:assert/strict";
import { test } from "node:test";

import type { UIMessageChunk } from "ai";

import { CutShort } from "../src/errors.js";
import { watched, whole } from "../src/streams.js";

const START: UIMessageChunk = { type: "start", messageId: "t1" };

function streamOf<T>(...items: T[]): ReadableStream<T> {
  return new ReadableStream({
    start(controller) {
      for (const item of items) controller.enqueue(item);
      controller.close();
    },
  });
}

async function read(stream: ReadableStream<UIMessageChunk>): Promise<string[]> {
  const types = [];
  for await (const chunk of stream as unknown as AsyncIterable<UIMessageChunk>) types.push(chunk.type);
  return types;
}

test("a stream that just ends has failed", async () => {
  await assert.rejects(read(whole(streamOf(START), () => {})), CutShort);
  assert.deepEqual(await read(whole(streamOf<UIMessageChunk>(START, { type: "finish" }), () => {})), ["start", "finish"]);
});

test("a turn has begun with its id, and once", async () => {
  let begun = 0;
  const begins = () => (begun += 1);
  await read(whole(streamOf<UIMessageChunk>({ type: "start" }, { type: "error", errorText: "no" }, { type: "finish" }), begins));
  assert.equal(begun, 0);
  await read(whole(streamOf<UIMessageChunk>(START, { type: "text-start", id: "x" }, { type: "finish" }), begins));
  assert.equal(begun, 1);
});

test("a message of a turn that was stopped or failed states it, as its history will", async () => {
  const stop = whole(streamOf<UIMessageChunk>(START, { type: "abort" }, { type: "finish" }), () => {});
  assert.deepEqual(await read(stop), ["start", "message-metadata", "abort", "finish"]);
  // One that never began has no message.
  const none = whole(streamOf<UIMessageChunk>({ type: "start" }, { type: "error", errorText: "no" }, { type: "finish" }), () => {});
  assert.deepEqual(await read(none), ["start", "error", "finish"]);
});

const SSE = { headers: { "content-type": "text/event-stream" } };

test("a body that brings nothing is silent, and one that is not waited for is not", async () => {
  let source!: ReadableStreamDefaultController<Uint8Array>;
  let times = 0;
  const lives = () => void (times += 1);
  const body = new ReadableStream<Uint8Array>({ start: (controller) => void (source = controller) });
  const silent = new Promise<void>((resolve) => {
    const reader = watched(new Response(body, SSE), 20, { silent: resolve, lives }).body!.getReader();
    source.enqueue(new Uint8Array(1));
    void reader.read().then(() => reader.read());
  });
  await silent;
  assert.equal(times, 1);

  let called = false;
  const unread = watched(new Response(streamOf(new Uint8Array(1), new Uint8Array(1)), SSE), 5, { silent: () => void (called = true), lives: () => {} });
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(called, false);
  assert.equal((await unread.arrayBuffer()).byteLength, 2);
});

test("what is no stream is not watched", () => {
  const refused = new Response("no", { status: 503 });
  assert.equal(watched(refused, 1, { silent: assert.fail, lives: assert.fail }), refused);
});
