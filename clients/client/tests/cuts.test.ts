// A turn with a bit of everything, cut at every place, twice: its reader has the same message each time.
import assert from "node:assert/strict";
import { test } from "node:test";

import { readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";

import type { Item } from "../src/event-stream.js";
import { chunksOf } from "../src/replay.js";
import { Turn } from "../src/turn.js";

const call = { toolCallId: "call-1", providerExecuted: true };
const question = (state: string): UIMessageChunk => ({ type: "data-question", id: "q1", data: { questionId: "q1", state } });
const said = (id: string, ...words: string[]): UIMessageChunk[] => [
  { type: "text-start", id },
  ...words.map((delta): UIMessageChunk => ({ type: "text-delta", id, delta })),
  { type: "text-end", id },
];

const LIVE: UIMessageChunk[] = [
  { type: "start", messageId: "turn-1" },
  { type: "start-step" },
  { type: "data-agent-status", data: { status: "thinking" }, transient: true },
  { type: "reasoning-start", id: "r0" },
  { type: "reasoning-delta", id: "r0", delta: "Let me " },
  { type: "reasoning-delta", id: "r0", delta: "think." },
  { type: "reasoning-end", id: "r0" },
  ...said("t0", "One ", "two ", "three."),
  { type: "tool-input-start", toolName: "look", ...call },
  { type: "tool-input-delta", toolCallId: "call-1", inputTextDelta: '{"a"' },
  { type: "tool-input-delta", toolCallId: "call-1", inputTextDelta: ": 1}" },
  { type: "tool-input-available", toolName: "look", input: { a: 1 }, ...call },
  { type: "tool-output-available", output: "half", preliminary: true, ...call },
  { type: "tool-output-available", output: "most", preliminary: true, ...call },
  { type: "tool-output-available", output: "all", ...call },
  { type: "source-url", sourceId: "s1", url: "https://example.com/1", title: "One" },
  { type: "source-url", sourceId: "s2", url: "https://example.com/2" },
  { type: "file", url: "data:text/plain,x", mediaType: "text/plain" },
  { type: "data-note", data: 1 },
  { type: "data-note", data: 1 },
  // Two calls beside one that waits for its user: what comes of them replaces an error.
  { type: "tool-input-available", toolCallId: "call-3", toolName: "wait", input: 3, providerExecuted: true },
  { type: "tool-input-available", toolCallId: "call-4", toolName: "wait", input: 4, providerExecuted: true },
  { type: "tool-output-error", toolCallId: "call-3", errorText: "No result", providerExecuted: true },
  { type: "tool-output-error", toolCallId: "call-4", errorText: "No result", providerExecuted: true },
  question("open"),
  question("resolved"),
  { type: "tool-output-available", toolCallId: "call-3", output: "late", providerExecuted: true },
  { type: "tool-output-error", toolCallId: "call-4", errorText: "No door", providerExecuted: true },
  { type: "finish-step" },
  { type: "start-step" },
  ...said("t1", "Four ", "five."),
  { type: "tool-input-available", toolCallId: "call-2", toolName: "fail", input: null, providerExecuted: true },
  { type: "tool-output-error", toolCallId: "call-2", errorText: "No window", providerExecuted: true },
  ...said("t2", "Six."),
  { type: "finish-step" },
  { type: "finish", messageMetadata: { tokens: 3 } },
];

/** What a resumed stream makes of what came so far: whole texts, the last values, nothing of the moment. */
function retold(chunks: readonly UIMessageChunk[]): UIMessageChunk[] {
  const found: UIMessageChunk[] = [];
  for (const [at, chunk] of chunks.entries()) {
    const last = found.at(-1);
    const rest = chunks.slice(at + 1);
    const isOld = rest.some((each) => "id" in each && "id" in chunk && each.type === "data-question" && each.id === chunk.id);
    const isPiece = chunk.type === "tool-input-start" || chunk.type === "tool-input-delta";
    if (isPiece && rest.some(({ type }) => type === "tool-input-available")) continue;
    if (chunk.type === "tool-output-available" && chunk.preliminary && rest.some(({ type }) => type === "tool-output-available")) continue;
    if (isOld || "transient" in chunk) continue;
    const isMore = chunk.type === "text-delta" && last?.type === "text-delta";
    if (isMore) found[found.length - 1] = { ...last, delta: last.delta + chunk.delta };
    else found.push(chunk);
  }
  return found;
}

function feed(turn: Turn, items: readonly Item[]): UIMessageChunk[] {
  turn.connect();
  return ["keepalive" as const, ...items].flatMap((item) => turn.take(item));
}

async function built(chunks: readonly UIMessageChunk[]): Promise<UIMessage> {
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(structuredClone(chunk));
      controller.close();
    },
  });
  let message: UIMessage | undefined;
  for await (const each of readUIMessageStream({ stream, terminateOnError: true })) message = each;
  assert.ok(message);
  return message;
}

test("at every pair of places", async () => {
  const whole = await built(LIVE);
  const known = new Map<string, UIMessage>();
  for (let first = 0; first <= LIVE.length; first++) {
    for (let second = first; second <= Math.min(first + 4, LIVE.length); second++) {
      const turn = new Turn(false);
      const found = [
        ...feed(turn, LIVE.slice(0, first)),
        ...(turn.isOver ? [] : feed(turn, retold(LIVE.slice(0, second)))),
        ...(turn.isOver ? [] : feed(turn, [...retold(LIVE.slice(0, second)), ...LIVE.slice(second)])),
      ];
      // Many of them come to the same chunks.
      const name = JSON.stringify(found);
      known.set(name, known.get(name) ?? (await built(found)));
      assert.deepEqual(known.get(name), whole, `cut at ${first} and ${second}`);
    }
  }
});

test("the same chunks again, as from a turn log, bring nothing", () => {
  const turn = new Turn(false);
  feed(turn, LIVE.slice(0, -1));

  assert.deepEqual(feed(turn, LIVE.slice(0, -1).filter((chunk) => !("transient" in chunk))), []);
});

test("a question that was closed is not open again, though something before it is new", () => {
  const turn = new Turn(false);
  const [start, step] = LIVE as [UIMessageChunk, UIMessageChunk];
  const calls: UIMessageChunk = { type: "tool-input-available", toolName: "look", input: {}, ...call };
  const output: UIMessageChunk = { type: "tool-output-available", output: 1, ...call };
  feed(turn, [start, step, calls, question("open"), question("resolved")]);

  assert.deepEqual(feed(turn, [start, step, calls, output, question("open"), question("resolved")]), [output]);
});

test("the rest of it from the history", async () => {
  const whole = await built(LIVE);
  const { finish: _, ...metadata } = { finish: null, tokens: 3 };
  const kept = { ...whole, metadata };
  for (let place = 0; place < LIVE.length; place++) {
    const turn = new Turn(false);
    const found = [...feed(turn, LIVE.slice(0, place)), ...turn.takeMessage(kept)];
    const message = await built(found);
    assert.deepEqual({ ...message, parts: named(message) }, { ...whole, parts: named(whole) }, `cut at ${place}`);
  }
});

test("a message that goes on is known: only what follows is new", async () => {
  const waits: UIMessage = {
    id: "turn-1",
    role: "assistant",
    parts: [
      { type: "step-start" },
      { type: "text", text: "One ", state: "done" },
      { type: "tool-look", toolCallId: "call-1", state: "approval-responded", input: {}, approval: { id: "a1", approved: true } },
    ] as UIMessage["parts"],
  };
  const turn = new Turn(true, waits);
  const rest: UIMessageChunk[] = [{ type: "start", messageId: "turn-1" }, { type: "tool-output-available", output: 1, ...call }];
  assert.deepEqual(feed(turn, rest), rest);
  const again = [...chunksOf(waits, true), ...rest.slice(1), { type: "finish-step" } as const, { type: "start-step" } as const, ...said("t1", "Two")];

  assert.deepEqual(feed(turn, [rest[0] as UIMessageChunk, ...again]), [{ type: "finish-step" }, { type: "start-step" }, ...said("t1", "Two").slice(0, 2)]);
});

test("where approvals are native, the history's questions about them are left out", () => {
  const data = { questionId: "q1", kind: "approval", state: "expired" };
  const kept: UIMessage = { id: "turn-1", role: "assistant", parts: [{ type: "data-question", id: "q1", data }] };

  assert.deepEqual([...chunksOf(kept, true)], []);
  assert.equal([...chunksOf(kept, false)].length, 1);
});

/** Without what a history does not keep: ids of blocks. */
function named({ parts }: UIMessage): unknown[] {
  return parts.map(({ ...part }) => ("id" in part && part.type !== "data-question" ? { ...part, id: undefined } : part));
}
