// A gateway that answers as a test says, and a clock that the test moves: nothing here waits.
import assert from "node:assert/strict";
import { mock } from "node:test";

import type { UIMessage, UIMessageChunk } from "ai";

import { openSession, type Options, type PlainChat, type Session, type State } from "../src/index.js";

export type Route = "messages" | "stream" | "chat" | "stop" | "answer";
type Reply = (body: Record<string, unknown>, signal: AbortSignal | undefined) => Response | Promise<Response>;

const STEP_MS = 50;
const LONGEST_MS = 1_000_000;

export class Scripted {
  history: UIMessage[] = [];
  readonly asked: [route: Route, body: Record<string, unknown>][] = [];
  readonly replies: Record<Route, Reply> = {
    messages: () => Response.json(this.history),
    stream: () => new Response(null, { status: 204 }),
    chat: () => refusal("conflict"),
    stop: () => Response.json({ stopped: true }),
    answer: () => new Response(null, { status: 202 }),
  };

  fetch: typeof fetch = async (input, init) => {
    const route = /(messages|stream|chat|stop|answer)(\?.*)?$/.exec(String(input))?.[1] as Route;
    const body = JSON.parse(typeof init?.body === "string" ? init.body : "{}") as Record<string, unknown>;
    this.asked.push([route, body]);
    return this.replies[route](body, init?.signal ?? undefined);
  };

  times(route: Route): number {
    return this.bodies(route).length;
  }

  bodies(route: Route): Record<string, unknown>[] {
    return this.asked.flatMap(([asked, body]) => (asked === route ? [body] : []));
  }

  session(options: Partial<Options> = {}): Session<PlainChat> {
    return openSession({ session: "scripted", fetch: this.fetch, ...options });
  }
}

/** A session that was opened: the history is there, and nothing runs. */
export async function opened(gateway: Scripted, options: Partial<Options> = {}): Promise<Session<PlainChat>> {
  const session = gateway.session(options);
  session.open();
  await until(() => !session.getState().loading && !session.getState().looking);
  return session;
}

/** The clock of the tests of a file. */
export const clock = {
  start: () => mock.timers.enable({ apis: ["setTimeout", "Date"] }),
  stop: () => mock.timers.reset(),
};

/** Let time pass until it holds, or fail: with what did not come. */
export async function until(holds: () => boolean, longest = LONGEST_MS): Promise<void> {
  for (let passed = 0; !holds(); passed += STEP_MS) {
    assert.ok(passed < longest, `never: ${holds.toString()}`);
    await settled();
    if (!holds()) mock.timers.tick(STEP_MS);
  }
  await settled();
}

/** Let time pass until this is over. */
export async function over(work: Promise<unknown>): Promise<void> {
  let isOver = false;
  void work.finally(() => (isOver = true));
  await until(() => isOver);
}

/** Let so much time pass. */
export async function passes(ms: number): Promise<void> {
  const end = Date.now() + ms;
  await until(() => Date.now() >= end);
}

/** Until what is under way has come as far as it can without the clock. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

export function refusal(code: string, status = 409): Response {
  return Response.json({ code, error: "No" }, { status });
}

/** A stream that brings these, then waits, and then ends: of itself, or by a line that breaks. */
export function stream(chunks: UIMessageChunk[], { after = 0, breaks = false, open = false } = {}): Response {
  const source: UnderlyingDefaultSource<Uint8Array> = {
    start(controller) {
      for (const chunk of chunks) controller.enqueue(record(chunk));
      const end = () => (breaks ? controller.error(new TypeError("terminated")) : controller.close());
      if (open) return;
      if (after === 0) end();
      else setTimeout(end, after);
    },
  };
  return new Response(new ReadableStream(source), { headers: { "content-type": "text/event-stream" } });
}

/** A stream that the test writes. */
export function written() {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({ start: (its) => void (controller = its) });
  return {
    response: new Response(body, { headers: { "content-type": "text/event-stream" } }),
    write: (...chunks: UIMessageChunk[]) => chunks.forEach((chunk) => controller.enqueue(record(chunk))),
    keepAlive: () => controller.enqueue(new TextEncoder().encode(": keepalive\n\n")),
    close: () => controller.close(),
    fail: () => controller.error(new TypeError("terminated")),
  };
}

function record(chunk: UIMessageChunk): Uint8Array {
  return new TextEncoder().encode(`data: ${JSON.stringify(chunk)}\n\n`);
}

/** The beginning of a turn, and its whole. */
export function begun(turn: string, text = "so"): UIMessageChunk[] {
  const id = `${turn}:t0`;
  return [{ type: "start", messageId: turn }, { type: "text-start", id }, { type: "text-delta", id, delta: text }];
}

export function whole(turn: string, text = "so"): UIMessageChunk[] {
  return [...begun(turn, text), { type: "text-end", id: `${turn}:t0` }, { type: "finish" }];
}

export function user(id: string, text: string): UIMessage {
  return { id, role: "user", parts: [{ type: "text", text }] };
}

export function answer(id: string, text = "so"): UIMessage {
  return { id, role: "assistant", parts: [{ type: "text", text, state: "done" }] };
}

export function textsOf(messages: readonly UIMessage[]): string[] {
  return messages.map(({ parts }) => parts.map((part) => (part.type === "text" ? part.text : "")).join(""));
}

/** What stands in `refused`. */
export function refused(state: State): string[] {
  return textsOf(state.refused);
}
