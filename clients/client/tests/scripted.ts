// A gateway that answers as a test says, over real sockets.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

import type { UIMessage, UIMessageChunk } from "ai";

import { type Limits, type TransportOptions, TurnwireChatTransport } from "../src/index.js";

export type Route = "messages" | "stream" | "chat" | "stop" | "answer";
type Reply = (response: ServerResponse, asked: Asked) => unknown;

export interface Asked {
  route: Route;
  url: string;
  headers: IncomingMessage["headers"];
  body: Record<string, unknown>;
}

/** Waits of milliseconds, so that a test that gives up does so soon. */
export const QUICK: Partial<Limits> = { waitsMs: [0, 5, 10, 20], stopMs: 200, replyMs: 2_000 };

export class Scripted {
  readonly asked: Asked[] = [];
  history: UIMessage[] = [];
  /** The replies to the next requests of a route; the last one holds for all that follow. */
  readonly replies: Record<Route, Reply[]> = {
    messages: [(response) => json(response, 200, this.history)],
    stream: [(response) => response.writeHead(204).end()],
    chat: [(response) => json(response, 409, { code: "conflict", error: "No" })],
    stop: [(response) => json(response, 200, { stopped: true, turnId: "turn-1", reason: "canceled", waitedMs: 1 })],
    answer: [(response) => response.writeHead(202).end()],
  };
  readonly #server: Server = createServer((request, response) => void this.#answer(request, response));

  static async start(): Promise<Scripted> {
    const gateway = new Scripted();
    await new Promise<void>((resolve) => gateway.#server.listen(0, "127.0.0.1", resolve));
    return gateway;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async end(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  times(route: Route): number {
    return this.asked.filter((each) => each.route === route).length;
  }

  transport(options: TransportOptions = {}): TurnwireChatTransport {
    return new TurnwireChatTransport({ url: this.url, sessionId: "s1", storage: null, limits: QUICK, ...options });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = request.url ?? "";
    const route = /\/(messages|stream|chat|stop|answer)(\?.*)?$/.exec(url)?.[1] as Route;
    const sent = await text(request);
    const asked: Asked = { route, url, headers: request.headers, body: sent === "" ? {} : (JSON.parse(sent) as Asked["body"]) };
    this.asked.push(asked);
    const replies = this.replies[route];
    const reply = replies.length > 1 ? replies.shift() : replies[0];
    await reply?.(response, asked);
  }
}

export function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

export function refuses(status: number, code: string, headers: Record<string, string> = {}): Reply {
  return (response) => response.writeHead(status, headers).end(JSON.stringify({ code, error: "No" }));
}

/** A stream that brings these, and then ends: well, or by a line that breaks, or not at all. */
export function streams(chunks: readonly UIMessageChunk[], end: "done" | "breaks" | "stays" = "done"): Reply {
  return async (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(": keepalive\n\n");
    for (const chunk of chunks) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    if (end === "done") response.end("data: [DONE]\n\n");
    // What was written is on its way first.
    if (end === "breaks") setTimeout(() => response.destroy(), 20);
  };
}

export const breaks: Reply = (response) => response.destroy();

export function user(id: string, words: string): UIMessage {
  return { id, role: "user", parts: [{ type: "text", text: words }] };
}

export function answered(id: string, words: string, metadata?: unknown): UIMessage {
  return { id, role: "assistant", parts: [{ type: "step-start" }, { type: "text", text: words, state: "done" }], metadata };
}

/** The first chunks of a turn, and its last ones. */
export function begun(words: string, turn = "turn-1"): UIMessageChunk[] {
  const id = `${turn}:t0`;
  return [
    { type: "start", messageId: turn },
    { type: "start-step" },
    { type: "text-start", id },
    { type: "text-delta", id, delta: words },
  ];
}

export function ended(turn = "turn-1"): UIMessageChunk[] {
  return [{ type: "text-end", id: `${turn}:t0` }, { type: "finish-step" }, { type: "finish" }];
}

export function prompt(message: UIMessage = user("m1", "Hello"), abortSignal?: AbortSignal) {
  return { chatId: "c1", trigger: "submit-message" as const, messageId: undefined, messages: [message], abortSignal };
}

export async function all(stream: ReadableStream<UIMessageChunk> | null): Promise<UIMessageChunk[]> {
  const found: UIMessageChunk[] = [];
  if (stream === null) return found;
  for await (const chunk of stream as unknown as AsyncIterable<UIMessageChunk>) found.push(chunk);
  return found;
}
