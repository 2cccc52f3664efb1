// One request to the server, and its answer as parts.
import { TurnwireCallError } from "./errors.js";
import { Events } from "./events.js";
import type { Fault, Part } from "./wire.js";

const ERROR_MAX = 4096;
const BROKEN: Fault = { kind: "truncated", retryable: true };

export interface Server {
  baseURL: string;
  token?: string | (() => string | PromiseLike<string>) | undefined;
  headers?: Record<string, string | undefined> | undefined;
  fetch?: typeof globalThis.fetch | undefined;
}

export interface Asked {
  headers?: Record<string, string | undefined> | undefined;
  abortSignal?: AbortSignal | undefined;
}

export interface Answered {
  parts: ReadableStream<Part>;
  headers: Record<string, string>;
}

/** Ask. It throws if there is no answer; one that breaks off ends with an `error` part. */
export async function call(server: Server, body: string, asked: Asked): Promise<Answered> {
  const url = `${server.baseURL.replace(/\/+$/, "")}/v1/generate`;
  const token = typeof server.token === "function" ? await server.token() : server.token;
  const headers = present({
    ...server.headers,
    ...asked.headers,
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    "content-type": "application/json",
    accept: "text/event-stream",
  });
  const response = await sent(server, url, {
    method: "POST",
    headers,
    body,
    redirect: "error",
    ...(asked.abortSignal ? { signal: asked.abortSignal } : {}),
  });
  if (!response.ok || response.body === null) throw await refused(url, response);
  return { parts: parts(response.body, asked.abortSignal), headers: Object.fromEntries(response.headers) };
}

async function sent(server: Server, url: string, init: RequestInit): Promise<Response> {
  try {
    return await (server.fetch ?? globalThis.fetch)(url, init);
  } catch (cause) {
    if (init.signal?.aborted) throw cause;
    throw new TurnwireCallError({ url, message: "turnwire-agent was not reached", cause });
  }
}

async function refused(url: string, response: Response): Promise<TurnwireCallError> {
  const responseBody = (await response.text().catch(() => "")).slice(0, ERROR_MAX);
  let words = "";
  try {
    words = (JSON.parse(responseBody) as { error: { message: string } }).error.message;
  } catch {
    // Something between answered.
  }
  const message = `turnwire-agent answered ${response.status}${words ? `: ${words}` : ""}`;
  return new TurnwireCallError({ url, message, statusCode: response.status, responseBody });
}

function parts(body: ReadableStream<Uint8Array>, signal: AbortSignal | undefined): ReadableStream<Part> {
  const reader = body.getReader();
  const events = new Events();
  let over = false;
  return new ReadableStream<Part>({
    async pull(controller) {
      try {
        for (let any = false; !any; ) {
          const { done, value } = await reader.read();
          if (done) {
            if (!over) controller.enqueue({ type: "error", error: BROKEN });
            controller.close();
            return;
          }
          for (const part of events.feed(value)) {
            over ||= part.type === "finish" || part.type === "error";
            controller.enqueue(part);
            any = true;
          }
        }
      } catch (error) {
        if (signal?.aborted) {
          controller.error(error);
          return;
        }
        if (!over) controller.enqueue({ type: "error", error: BROKEN });
        controller.close();
        await reader.cancel().catch(() => {});
      }
    },
    // Then the server hangs up on the provider.
    cancel: (reason) => reader.cancel(reason),
  });
}

function present(headers: Record<string, string | undefined>): Record<string, string> {
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return Object.fromEntries(lower.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
