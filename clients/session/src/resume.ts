// The look whether a turn runs, with which its stream begins.
import type { AbstractChat, UIMessage } from "ai";

import { pause } from "./pause.js";

export class Resume {
  /** Whether it is not known yet whether a turn runs: what fails meanwhile is the look. */
  isUnderWay = false;
  #over: Promise<void> = Promise.resolve();
  #opened: () => void = () => {};

  /** Until the look, and the stream that it found, are over. */
  get over(): Promise<void> {
    return this.#over;
  }

  /** Until it is known whether a turn runs. The end of its stream is the turn's end: what waits for
   * this must not wait for that. */
  async look(chat: AbstractChat<UIMessage>): Promise<void> {
    this.isUnderWay = true;
    const opened = new Promise<void>((resolve) => (this.#opened = resolve));
    this.#over = chat.resumeStream();
    // Once it is open, the chat has to take notice of it.
    await Promise.race([this.#over, opened.then(() => pause(1))]);
    this.isUnderWay = false;
  }

  /** A turn runs, and its stream is here. */
  opened(): void {
    this.#opened();
  }
}
