// Signals that end a request.

/** Aborted with the first of them. Safari has `AbortSignal.any` since 17.4. */
export function either(...signals: AbortSignal[]): AbortSignal {
  if (typeof AbortSignal.any === "function") return AbortSignal.any(signals);
  const both = new AbortController();
  for (const signal of signals) {
    if (signal.aborted) both.abort(signal.reason);
    signal.addEventListener("abort", () => both.abort(signal.reason), { signal: both.signal });
  }
  return both.signal;
}
