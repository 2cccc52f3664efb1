// One response of the gateway: what it brings, until it ends, breaks, or is left.
import { EventStream, type Item } from "./event-stream.js";
import type { Network } from "./network.js";

/** What the body brings. It just ends where the line broke, or fell silent, or where the network has been away:
 * what was open before that may hang for minutes. */
export async function* itemsOf(
  response: Response,
  silenceMs: number,
  network: Network,
  signal: AbortSignal,
): AsyncGenerator<Item> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const events = new EventStream();
  let isCut = false;
  const cut = () => {
    isCut = true;
    void reader.cancel().catch(() => {});
  };
  const unsubscribe = network.whenBack(cut);
  signal.addEventListener("abort", cut);
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    while (!isCut) {
      // The clock runs only while the body is waited for: a client that reads slowly is not a silent line.
      timer = setTimeout(cut, silenceMs);
      const piece = await reader.read().catch(() => null);
      clearTimeout(timer);
      if (piece === null || piece.done || isCut) return;
      yield* events.feed(piece.value);
    }
  } finally {
    clearTimeout(timer);
    unsubscribe();
    signal.removeEventListener("abort", cut);
    void reader.cancel().catch(() => {});
  }
}
