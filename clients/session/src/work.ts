// What a session does by itself: one after the other, with waits that whoever knows more can end.
import { pause } from "./pause.js";

export class Work {
  #last: Promise<void> = Promise.resolve();
  #wake: (() => void) | null = null;
  #isUnderWay = false;

  /** Until all that was begun so far is done. */
  get done(): Promise<void> {
    return this.#last;
  }

  /** Whether it waits for a while. */
  get rests(): boolean {
    return this.#wake !== null;
  }

  /** One after the other: two that set the messages at once would undo each other. */
  alone(work: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(work, work);
    return this.#last;
  }

  /** The same, unless work that was begun by this is not done yet: what is asked for twice is done once. */
  once(work: () => Promise<void>): void {
    if (this.#isUnderWay) return;
    this.#isUnderWay = true;
    void this.alone(() => work().finally(() => (this.#isUnderWay = false)));
  }

  /** Wait between two tries, until `wake` at the longest. */
  async rest(ms: number): Promise<void> {
    if (ms === 0) return;
    await Promise.race([pause(ms), new Promise<void>((resolve) => (this.#wake = resolve))]);
    this.#wake = null;
  }

  wake(): void {
    this.#wake?.();
  }
}
