// One session as the widget draws it.
import type { UIMessage } from "ai";
import { followNetwork, openSession, type Notice, type PlainChat, type Session, withToken } from "turnwire-session";

import { memoryOf, userOf } from "./memory";
import type { Settings } from "./options";

export interface View {
  messages: readonly UIMessage[];
  /** A turn runs, or is about to. */
  busy: boolean;
  /** Nothing may be sent yet: it is not known what was said before, or whether a turn runs. */
  loading: boolean;
  stopping: boolean;
  /** What the agent says it does. */
  agent: string;
  notice: Notice | null;
  /** Prompts that were not taken: they go back to the box. */
  refused: readonly UIMessage[];
}

const DRAW_MS = 40;

export class Conversation {
  readonly #session: Session<PlainChat>;
  readonly #leave: () => void;
  #drawn: Pick<View, "busy" | "loading"> = { busy: false, loading: false };
  #drawing = false;
  #drawingNow = false;
  #warned = false;
  #ended = false;

  constructor(
    private readonly settings: Settings,
    private readonly draw: (view: View) => void,
  ) {
    const { url, session, token } = settings;
    let user = "";
    const ask = async () => {
      const given = await token();
      user = userOf(given);
      return given;
    };
    const memory = memoryOf(() => ({ gateway: url, session, user }));
    this.#session = openSession({ url, session, memory, fetch: withToken(ask) });
    this.#session.subscribe(() => this.#changed());
    this.#leave = followNetwork(this.#session);
  }

  get loading(): boolean {
    const { looking, recovering } = this.#session.getState();
    return looking || recovering;
  }

  /** Whether a prompt may be sent. */
  get idle(): boolean {
    return !this.#session.busy && !this.loading;
  }

  open(): void {
    if (!this.#ended) this.#session.open();
  }

  send(text: string): void {
    void this.#session.send({ text });
  }

  /** The step that a notice offers. */
  take(step: Notice["step"]): void {
    if (step === "retry") this.#session.retry();
    else this.#session.reconnect();
  }

  stop(): void {
    void this.#session.stop();
  }

  /** False if it was not taken; the notice says why. */
  answer(questionId: string, answer: string | boolean, approvalId?: string): Promise<boolean> {
    return this.#session.answer(questionId, answer, approvalId);
  }

  /** These refused prompts are in the box. */
  tookBack(prompts: readonly UIMessage[]): void {
    this.#session.tookBack(prompts);
  }

  /** Nothing is drawn any more. A turn that runs goes on for as long as the gateway allows. */
  end(): void {
    this.#ended = true;
    this.#leave();
    this.#session.end();
  }

  #view(): View {
    const { messages, stopping, agent, notice, refused } = this.#session.getState();
    const { loading } = this;
    return { messages, stopping, notice, refused, loading, busy: this.#session.busy && !loading, agent: agent.status };
  }

  /** For whoever puts the widget on a page: a browser tells no script why a request failed. */
  #warn(): void {
    if (this.#warned || this.#session.known || this.#session.getState().notice?.code !== "unreached") return;
    this.#warned = true;
    const { url } = this.settings;
    console.warn(
      `turnwire widget: no answer from ${url}. Likely TURNWIRE_CORS_ORIGINS there lacks ${self.origin}, or it is down.`,
    );
  }

  /** Deltas come faster than anybody reads: what changed is drawn a few times a second. What may be pressed is drawn
   * at once, and so is each turn that begins, however short it is: that it is over is told. */
  #changed(): void {
    this.#warn();
    const { busy, loading } = this.#view();
    const isUrgent = busy !== this.#drawn.busy || loading !== this.#drawn.loading;
    if (isUrgent && !this.#drawingNow) {
      this.#drawingNow = true;
      queueMicrotask(() => {
        this.#drawingNow = false;
        this.#draw();
      });
    }
    if (this.#drawing) return;
    this.#drawing = true;
    setTimeout(() => {
      this.#drawing = false;
      this.#draw();
    }, DRAW_MS);
  }

  #draw(): void {
    if (this.#ended) return;
    const view = this.#view();
    this.#drawn = view;
    this.draw(view);
  }
}
