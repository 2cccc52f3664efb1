import assert from "node:assert/strict";
import { test } from "node:test";

import { call, type Server } from "../src/call.js";
import { TurnwireCallError } from "../src/errors.js";
import { EVENT_MAX, Events } from "../src/events.js";
import type { Part } from "../src/wire.js";

const QUESTION = '{"model":"m","transcript":[]}';
const START = 'data: {"type":"stream-start","warnings":[]}\n\n';
const TEXT = ': keepalive\n\ndata: {"type":"text-delta","id":"0","delta":"ä€"}\n\n';
const ERROR: Part = { type: "error", error: { kind: "truncated", retryable: true } };

function server(respond: (url: string, init: RequestInit) => Promise<Response> | Response, more: Partial<Server> = {}): Server {
  return { baseURL: "http://models.example/", fetch: async (url, init) => respond(String(url), init ?? {}), ...more };
}

async function all(stream: ReadableStream<Part>): Promise<Part[]> {
  const parts: Part[] = [];
  for await (const part of stream as unknown as AsyncIterable<Part>) parts.push(part);
  return parts;
}

test("parts are the same however their bytes are cut", () => {
  const bytes = new TextEncoder().encode(START + TEXT.replaceAll("\n", "\r\n"));
  const whole = [...new Events().feed(bytes)];
  assert.equal(whole.length, 2);
  for (let size = 1; size < 20; size++) {
    const events = new Events();
    const parts: Part[] = [];
    for (let at = 0; at < bytes.length; at += size) parts.push(...events.feed(bytes.subarray(at, at + size)));
    assert.deepEqual(parts, whole);
  }
});

test("an event has an end", () => {
  const events = new Events();
  const megabyte = new Uint8Array(1024 * 1024).fill(0x61);
  assert.throws(() => {
    for (let sent = 0; sent <= EVENT_MAX; sent += megabyte.length) events.feed(megabyte).next();
  }, /an event is too long/);
});

test("a request has the token of its moment, and the headers of all and of its own", async () => {
  let count = 0;
  const seen: [string, RequestInit][] = [];
  const models = server((url, init) => (seen.push([url, init]), new Response(START)), {
    token: async () => `t${++count}`,
    headers: { "X-All": "a", "X-Both": "a", authorization: "mine" },
  });
  await call(models, QUESTION, { headers: { "x-both": "b", "x-none": undefined } });
  await call(models, QUESTION, {});

  const [url, init] = seen[0] ?? [];
  assert.equal(url, "http://models.example/v1/generate");
  assert.deepEqual(init?.headers, {
    "x-all": "a",
    "x-both": "b",
    authorization: "Bearer t1",
    "content-type": "application/json",
    accept: "text/event-stream",
  });
  assert.equal(init?.body, QUESTION);
  assert.equal((seen[1]?.[1].headers as Record<string, string>)["authorization"], "Bearer t2");
});

for (const [status, body, message, retryable] of [
  [401, '{"error":{"status":401,"message":"No."}}', "turnwire-agent answered 401: No.", false],
  [503, "<html>", "turnwire-agent answered 503", true],
  [429, '{"error":null}', "turnwire-agent answered 429", true],
] as const) {
  test(`a ${status} is an error with its status`, async () => {
    const models = server(() => new Response(body, { status }));

    await assert.rejects(call(models, QUESTION, {}), (error) => {
      assert.ok(error instanceof TurnwireCallError);
      assert.deepEqual(
        [error.statusCode, error.message, error.isRetryable, error.responseBody],
        [status, message, retryable, body],
      );
      return true;
    });
  });
}

test("a server that is not there is an error to try again; an abort stays an abort", async () => {
  const models = server(() => Promise.reject(new TypeError("fetch failed")));
  await assert.rejects(call(models, QUESTION, {}), { message: "turnwire-agent was not reached", isRetryable: true });

  await assert.rejects(call(models, QUESTION, { abortSignal: AbortSignal.abort() }), { message: "fetch failed" });
});

test("a stream that ends early, breaks, or is no JSON ends with an error", async () => {
  const broken = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.error(new TypeError("terminated"));
    },
  });
  for (const [body, before] of [
    [START, 1],
    [broken, 0],
    [`${START}data: {\n\n`, 1],
    ["", 0],
  ] as const) {
    const { parts } = await call(server(() => new Response(body)), QUESTION, {});
    const told = await all(parts);
    assert.deepEqual(told.at(-1), ERROR);
    assert.equal(told.length, before + 1);
  }
});

test("after its end nothing is added", async () => {
  const finish = 'data: {"type":"error","error":{"kind":"server","retryable":true}}\n\n';
  const { parts } = await call(server(() => new Response(START + finish)), QUESTION, {});

  assert.deepEqual((await all(parts)).map(({ type }) => type), ["stream-start", "error"]);
});

test("an abort in the middle is no broken answer", async () => {
  const abort = new AbortController();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(START));
      abort.signal.addEventListener("abort", () => controller.error(abort.signal.reason));
    },
  });
  const { parts } = await call(server(() => new Response(body)), QUESTION, { abortSignal: abort.signal });
  const reader = parts.getReader();
  await reader.read();
  abort.abort();

  await assert.rejects(reader.read(), { name: "AbortError" });
});

test("who stops reading ends the request", async () => {
  let canceled: unknown;
  const body = new ReadableStream<Uint8Array>({
    cancel(reason) {
      canceled = reason;
    },
  });
  const { parts } = await call(server(() => new Response(body)), QUESTION, {});
  await parts.cancel("enough");

  assert.equal(canceled, "enough");
});
