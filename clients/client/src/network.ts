// Whether there is a network, and waits that end when it is back.

export interface Network {
  /** False only where it is known that there is none. */
  isOnline(): boolean;
  /** Calls `back` when the network is back. Returns what ends this. */
  whenBack(back: () => void): () => void;
}

/** The browser's. Elsewhere there is always a network, and it is never back. */
export const BROWSER: Network = {
  isOnline: () => globalThis.navigator?.onLine !== false,
  whenBack: (back) => {
    if (typeof globalThis.addEventListener !== "function") return () => {};
    globalThis.addEventListener("online", back);
    return () => globalThis.removeEventListener("online", back);
  },
};

/** Wait for so many milliseconds, until the network is back, or until the signal; true if the network is back. */
export function rest(ms: number, network: Network, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (isBack: boolean) => {
      clearTimeout(timer);
      unsubscribe();
      signal.removeEventListener("abort", left);
      resolve(isBack);
    };
    const left = () => end(false);
    const timer = setTimeout(left, ms);
    const unsubscribe = network.whenBack(() => end(true));
    signal.addEventListener("abort", left);
    if (signal.aborted) left();
  });
}
