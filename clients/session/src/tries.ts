// How often a session reads everything anew by itself, and what counts as a try in vain.
import type { UIMessage } from "ai";

/** Before each try. After the last one it is the user's turn. */
const WAITS_MS = [0, 400, 800, 1600, 3200, 5000];
/** A stream that lived so long is no try in vain, though it brought nothing. */
const LIVES_MS = 10_000;

/** Counts the tries since the last one that was worth it. The caller says what time it is, in milliseconds. */
export class Tries {
  #made = 0;
  #openedAt = 0;
  /** The longest that streams of one turn have brought. */
  #turn: string | undefined;
  #longest = 0;

  get areLeft(): boolean {
    return this.#made < WAITS_MS.length;
  }

  /** How many milliseconds to wait before the next try; null if there is none. */
  next(): number | null {
    const wait = WAITS_MS[this.#made] ?? null;
    this.#made += 1;
    return wait;
  }

  anew(): void {
    this.#made = 0;
  }

  /** A stream has opened. */
  opened(now: number): void {
    this.#openedAt = now;
  }

  /** The stream has brought something, if only a keepalive. */
  lives(now: number): void {
    if (now - this.#openedAt >= LIVES_MS) this.anew();
  }

  /** A stream of this turn has broken, with so much of its message. A resumed stream begins with all
   * that there was before: only what is longer is new. */
  broke(turn: string | undefined, message: UIMessage): void {
    const length = message.parts.length === 0 ? 0 : JSON.stringify(message.parts).length;
    if (length === 0 || (turn === this.#turn && length <= this.#longest)) return;
    [this.#turn, this.#longest] = [turn, length];
    // The next try waits: an agent may go on so for ever, a little at a time.
    this.#made = Math.min(this.#made, 1);
  }
}
