// Language models of the AI SDK over one server: turnwire-agent, which has the keys.
import type { Server } from "./call.js";
import { type ModelOptions, type Models, model } from "./model.js";
import type { Specification } from "./versions.js";

export { TurnwireCallError, TurnwireError } from "./errors.js";
export type { ModelOptions, Models } from "./model.js";
export type { Specification } from "./versions.js";
export type { Effort } from "./wire.js";

export interface TurnwireOptions {
  /** As `http://127.0.0.1:8790`. */
  baseURL: string;
  /** The bearer token, or what gives it for each call. */
  token?: string | (() => string | PromiseLike<string>);
  /** Of each request. */
  headers?: Record<string, string | undefined>;
  /** Instead of the global one. */
  fetch?: typeof globalThis.fetch;
}

export interface Turnwire {
  /** A model by the name that the server gave it. */
  model<S extends Specification = "v4">(route: string, options?: ModelOptions<S>): Models[S];
}

export function createTurnwire(options: TurnwireOptions): Turnwire {
  const server: Server = options;
  return {
    model: <S extends Specification = "v4">(route: string, of: ModelOptions<S> = {}) =>
      model(server, route, of.specification ?? ("v4" as S), of),
  };
}
