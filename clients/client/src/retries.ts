// How often a turn is asked for again, and what is waited for before.
import { aborted, RefusedError } from "./errors.js";
import { type Network, rest } from "./network.js";
import type { Limits } from "./options.js";

/** `offline` is reported while the browser says that it has no network. */
export type Waiting = "reconnecting" | "offline";

/** Counts the tries since the last one whose connection was sound. */
export class Retries {
  #made = 0;
  /** Whether the network was waited for in vain: a browser that is wrong about it is not believed for ever. */
  #isPatient = true;

  constructor(
    private readonly limits: Limits,
    private readonly network: Network,
    private readonly signal: AbortSignal,
    private readonly report: (state: Waiting) => void,
  ) {}

  /** Wait before the next try. Throws `failure` if none is left, and an `AbortError` if the stream was left meanwhile. */
  async wait(failure: Error): Promise<void> {
    if (this.signal.aborted) throw aborted();
    if (this.network.isOnline()) this.#isPatient = true;
    else if (this.#isPatient) await this.#offline();
    this.report("reconnecting");
    const { waitsMs } = this.limits;
    const longest = Math.max(0, ...waitsMs);
    const asked = failure instanceof RefusedError ? (failure.retryAfter ?? 0) * 1000 : 0;
    const wait = waitsMs[this.#made];
    if (wait === undefined || asked > longest) throw failure;
    this.#made += 1;
    const ms = Math.max(wait, asked);
    if (ms > 0) await rest(ms, this.network, this.signal);
    if (this.signal.aborted) throw aborted();
  }

  /** The next try waits all the same: a connection may bring a little each time, for ever. */
  wasSound(): void {
    this.#made = Math.min(this.#made, 1);
  }

  /** Without a network no try counts, and none is made. */
  async #offline(): Promise<void> {
    this.report("offline");
    this.#isPatient = await rest(this.limits.offlineMs, this.network, this.signal);
    if (this.#isPatient) this.#made = 0;
    if (this.signal.aborted) throw aborted();
  }
}
