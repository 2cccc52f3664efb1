export { RefusedError, TurnChangedError, TurnwireError } from "./errors.js";
export type { Network } from "./network.js";
export { type Finish, finishOf, type Limits, type StoragePort, type TransportOptions } from "./options.js";
export type { Page, Receipt } from "./place.js";
export { type ChatPort, sendAgain, TurnwireSession } from "./session.js";
export type { TransportState } from "./store.js";
export type { Token } from "./tokens.js";
export { TurnwireChatTransport, turnwireTransport } from "./transport.js";
export type { UnsentPrompt } from "./unsent.js";
