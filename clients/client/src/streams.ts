// A turn that is followed, as the stream that the SDK's chat reads.
import type { UIMessageChunk } from "ai";

import { aborted } from "./errors.js";
import type { Follow } from "./follow.js";

export type Chunks = ReadableStream<UIMessageChunk>;
type Steps = ReturnType<Follow["run"]>;

export class Stream {
  readonly #follow: Follow;
  readonly #steps: Steps;
  #fail!: (error: Error) => void;
  readonly #gone = new Promise<never>((_, reject) => (this.#fail = reject));
  #isLeft = false;

  /** `over` is called once, when nothing more comes; `stop` when the user has ended it, and ends what is left. */
  constructor(
    follow: Follow,
    private readonly signal: AbortSignal | undefined,
    private readonly stop: (follow: Follow, steps: Steps) => void,
    private readonly over: () => void,
  ) {
    this.#follow = follow;
    this.#steps = follow.run();
    // Nobody may be reading when it is left.
    this.#gone.catch(() => {});
  }

  /** The stream, once the gateway has taken the request; null if there is nothing to resume.
   *
   * Throws what `Follow.run` throws, and an `AbortError` when it is left. */
  async open(): Promise<Chunks | null> {
    if (this.signal?.aborted) {
      this.over();
      throw aborted();
    }
    this.signal?.addEventListener("abort", this.#stopped);
    try {
      const { value } = await this.#next();
      if (value !== "nothing") return new ReadableStream({ pull: this.#pull, cancel: this.#cancel }, { highWaterMark: 0 });
      this.#end();
      return null;
    } catch (error) {
      this.#end();
      throw error;
    }
  }

  /** Hang up; the turn goes on for as long as the gateway lets it. */
  leave(): void {
    this.#isLeft = true;
    this.#fail(aborted());
    this.#end();
    this.#follow.leave();
    void this.#steps.return(undefined).catch(() => {});
  }

  #next(): ReturnType<Steps["next"]> {
    return Promise.race([this.#steps.next(), this.#gone]);
  }

  #pull = async (controller: ReadableStreamDefaultController<UIMessageChunk>): Promise<void> => {
    try {
      const { done, value } = await this.#next();
      if (done !== true) return controller.enqueue(value as UIMessageChunk);
      this.#end();
      controller.close();
    } catch (error) {
      this.#end();
      controller.error(error);
    }
  };

  #cancel = (): void => {
    // What has stopped it needs the connection for a while.
    if (this.signal?.aborted !== true && !this.#isLeft) this.leave();
  };

  #stopped = (): void => {
    if (this.#isLeft) return;
    this.#isLeft = true;
    this.#fail(aborted());
    this.#end();
    this.stop(this.#follow, this.#steps);
  };

  #end(): void {
    this.signal?.removeEventListener("abort", this.#stopped);
    this.over();
  }
}
