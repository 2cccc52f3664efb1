// Why there is no answer. No error has the prompt, the token, or the provider's words in it.
import type { Fault } from "./wire.js";

const MARKERS = ["vercel.ai.error", "vercel.ai.error.AI_APICallError"].map((name) => Symbol.for(name));

/** The model failed, or its stream broke: the error of an `error` part. */
export class TurnwireError extends Error {
  override readonly name = "TurnwireError";
  /** As `rate-limited`, `context-overflow`, `truncated`. */
  readonly kind: string;
  /** Whether the same call may go well later. The server has tried again already. */
  readonly retryable: boolean;
  /** Of the provider's response; undefined if there was none. */
  readonly status: number | undefined;
  readonly retryAfterS: number | undefined;

  constructor(fault: Fault) {
    super(`The call of the model failed: ${fault.kind}`);
    this.kind = fault.kind;
    this.retryable = fault.retryable;
    this.status = fault.status;
    this.retryAfterS = fault.retryAfterS;
  }
}

interface Refused {
  url: string;
  message: string;
  statusCode?: number | undefined;
  responseBody?: string | undefined;
  cause?: unknown;
}

const TRANSIENT = new Set([408, 429, 502, 503, 504]);

/**
 * The server was not reached, or refused the request.
 *
 * `ai` takes it as its own `APICallError`, and tries again if it is retryable.
 */
export class TurnwireCallError extends Error {
  override readonly name = "AI_APICallError";
  readonly url: string;
  /** Empty: it would have the prompt. */
  readonly requestBodyValues = {};
  readonly statusCode: number | undefined;
  readonly responseHeaders = undefined;
  readonly responseBody: string | undefined;
  readonly isRetryable: boolean;
  readonly data = undefined;

  constructor({ url, message, statusCode, responseBody, cause }: Refused) {
    super(message, { cause });
    for (const marker of MARKERS) Object.defineProperty(this, marker, { value: true });
    this.url = url;
    this.statusCode = statusCode;
    this.responseBody = responseBody;
    this.isRetryable = statusCode === undefined || TRANSIENT.has(statusCode);
  }
}
