// What a transport is doing, for who shows it.

export interface TransportState {
  /** `idle` without a stream. `reconnecting` and `offline` end by themselves, or with the stream's error. */
  line: "idle" | "open" | "reconnecting" | "offline";
  /** A stop is under way. */
  stopping: boolean;
}

export class Store {
  #state: TransportState = { line: "idle", stopping: false };
  readonly #listeners = new Set<() => void>();

  /** The same object until something changes. */
  get = (): TransportState => this.#state;

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  set(change: Partial<TransportState>): void {
    this.#state = { ...this.#state, ...change };
    this.changed();
  }

  changed = (): void => {
    for (const listener of this.#listeners) listener();
  };
}
