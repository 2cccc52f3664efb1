// One session as the widget has it. What must be right after a break is read anew from the agent:
// its history, and the turn that runs.
import type { UIMessage } from "ai";

import { Chat } from "./chat";
import { CUT_SHORT, noticeOf, NOT_SENT, UNANSWERED, type Notice, type Turn } from "./notice";
import type { Settings } from "./options";
import { Tokens } from "./tokens";
import { finishOf, Transport } from "./transport";

export interface View {
  messages: readonly UIMessage[];
  /** A turn runs, or is about to. */
  busy: boolean;
  /** Nothing may be sent yet: it is not known what was said before. */
  loading: boolean;
  stopping: boolean;
  /** What the agent says it does. */
  agent: string;
  notice: Notice | null;
}

/** A prompt that nothing was heard of yet. */
interface Sent {
  text: string;
  /** What was the last message before it. */
  after: string | undefined;
  /** Whether it was said before, so that its text may be there already. */
  again: boolean;
}

const WAITS_MS = [0, 500, 1000, 2000, 4000, 8000];
const DRAW_MS = 40;
const STOP_MS = 3000;
/** A line that is dead and does not say so would be waited for for minutes. */
const LATE_MS = 30_000;

export class Conversation {
  #chat: Chat;
  #tokens: Tokens;
  #base: string;
  #rest: Omit<View, "messages" | "busy"> = { loading: false, stopping: false, agent: "", notice: null };
  #tries = 0;
  #turn: Turn = "none";
  #sent: Sent | null = null;
  /** Nothing was ever heard of the gateway, and the console was not told so. */
  #silent = true;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #drawing = false;
  #ended = false;
  /** How often something was begun: what is still under way for what came before leaves this alone. */
  #begun = 0;
  /** What was said before was never read. */
  #behind = true;

  constructor(
    private readonly settings: Settings,
    private readonly draw: (view: View) => void,
  ) {
    this.#tokens = new Tokens(settings.token);
    this.#base = `${settings.url}/api/sessions/${encodeURIComponent(settings.session)}`;
    this.#chat = new Chat(
      {
        id: settings.session,
        transport: new Transport(`${this.#base}/chat`, this.#tokens.fetch, (runs) => {
          if (!runs) return;
          this.#turn = "runs";
          this.#set({ loading: false });
        }),
        onData: (part) => {
          if (part.type === "data-agent-status") this.#set({ agent: (part.data as { status: string }).status });
        },
        onFinish: ({ isError }) => {
          if (!isError) {
            this.#tries = 0;
            this.#turn = "none";
            this.#sent = null;
          }
          this.#set({ agent: "", stopping: false });
          if (!isError && this.#behind) setTimeout(() => this.open());
        },
        onError: (error) => this.#failed(error),
      },
      () => this.#changed(),
    );
  }

  get busy(): boolean {
    return this.#chat.status === "submitted" || this.#chat.status === "streaming";
  }

  get loading(): boolean {
    return this.#rest.loading;
  }

  /** Whether a prompt may be sent. */
  get idle(): boolean {
    return !this.busy && !this.loading;
  }

  /** History first, then the turn that runs, if one does. */
  open(): void {
    if (!this.idle || this.#ended) return;
    clearTimeout(this.#timer);
    this.#tries = 0;
    void this.#catchUp();
  }

  send(text: string): void {
    this.#begin();
    this.#asks(text, false);
    void this.#chat.sendMessage({ text });
  }

  /** The step that a notice offers. */
  take(step: Notice["step"]): void {
    if (!this.idle) return;
    this.#begin();
    if (step !== "retry" || this.#chat.messages.length === 0) {
      void this.#catchUp();
      return;
    }
    // One that never came to the agent is as new as it was.
    if (this.#sent !== null) this.#turn = "asked";
    else this.#asks(textOf(this.#chat.messages.findLast((message) => message.role === "user")), true);
    void this.#chat.regenerate();
  }

  /** Stop the turn at the agent; the stream then ends by itself. */
  async stop(): Promise<void> {
    this.#set({ stopping: true });
    const begun = this.#begun;
    const goesOn = () => this.busy && this.#begun === begun;
    const last = this.#chat.lastMessage;
    const named = last?.role === "assistant" ? { turnId: last.id } : {};
    const stopped = await this.#post("stop", named)
      .then(async (told) => (told.ok ? ((await told.json()) as { stopped: boolean }).stopped : null))
      .catch(() => null);
    const until = Date.now() + (stopped === null ? 0 : STOP_MS);
    while (goesOn() && Date.now() < until) await pause(50);
    if (goesOn()) await this.#leave(stopped === true);
    this.#set({ stopping: false });
  }

  /** Hear no more of the turn. One that may run on does not do so unseen. */
  async #leave(stopped: boolean): Promise<void> {
    const [turn, sent] = [this.#turn, this.#sent];
    await this.#chat.stop();
    while (this.busy) await pause(10);
    if (stopped || this.#ended) return;
    [this.#turn, this.#sent] = [turn, sent];
    if (this.idle) void this.#catchUp();
  }

  /** False if it was not taken; the notice says why. */
  async answer(questionId: string, answer: string | boolean, approvalId?: string): Promise<boolean> {
    try {
      const response = await this.#post("answer", { questionId, answer, approvalId });
      const told = await response.text(); // to its end, or it would be broken off by a reload
      if (response.ok) return true;
      this.#set({ notice: noticeOf(new Error(told), this.#turn) });
    } catch (error) {
      this.#set({ notice: { ...noticeOf(error as Error, this.#turn), step: "reconnect" } });
    }
    return false;
  }

  /** Nothing is drawn any more. A turn that runs goes on for as long as the gateway allows. */
  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
    void this.#chat.stop();
  }

  #begin(): void {
    clearTimeout(this.#timer);
    this.#tries = 0;
    this.#begun += 1;
    this.#chat.clearError();
    this.#set({ notice: null });
  }

  #asks(text: string, again: boolean): void {
    this.#turn = "asked";
    this.#sent = text === "" ? null : { text, after: this.#chat.lastMessage?.id, again };
  }

  async #catchUp(): Promise<void> {
    this.#set({ loading: true });
    try {
      this.#chat.clearError();
      this.#chat.messages = await this.#history();
      if (this.#ended) return;
      const known = this.#chat.messages.length;
      const broke = this.#turn !== "none";
      // To the end of the turn, if one runs; what fails is told to `onError`.
      await this.#chat.resumeStream();
      if (this.#chat.status === "error") return;
      // It may have ended between the two requests.
      const asked = this.#chat.lastMessage?.role === "user";
      if (asked && this.#chat.messages.length === known) {
        this.#set({ loading: true });
        this.#chat.messages = await this.#history();
      }
      this.#set({ loading: false, notice: null });
      this.#turn = "none";
      const lost = this.#lost();
      if (!lost && !broke) return;
      if (lost) this.#set({ notice: NOT_SENT });
      else if (finishOf(this.#chat.lastMessage) !== undefined) this.#set({ notice: CUT_SHORT });
      else if (this.#chat.lastMessage?.role === "user") this.#set({ notice: UNANSWERED });
    } catch (error) {
      this.#failed(error as Error);
    }
  }

  /** Whether a prompt never came to the agent: its text is not the last that was asked, or nothing
   * came since. It is shown all the same. */
  #lost(): boolean {
    const sent = this.#sent;
    if (sent === null) return false;
    const { text, after, again } = sent;
    const known = textOf(this.#chat.messages.findLast((message) => message.role === "user")) === text;
    if (known && this.#chat.lastMessage?.id !== after) {
      this.#sent = null;
      return false;
    }
    const prompt: UIMessage = { id: this.#chat.generateId(), role: "user", parts: [{ type: "text", text }] };
    if (!known || !again) this.#chat.messages = [...this.#chat.messages, prompt];
    return true;
  }

  async #history(): Promise<UIMessage[]> {
    const signal = AbortSignal.timeout(LATE_MS);
    const response = await this.#tokens.fetch(`${this.#base}/messages?finish=true`, { signal });
    this.#silent = false;
    // An agent that tells no history can be talked to all the same.
    if (response.status === 501) {
      this.#behind = false;
      return this.#chat.messages;
    }
    if (!response.ok) throw new Error(await response.text());
    const told = (await response.json()) as UIMessage[];
    this.#behind = false;
    return told;
  }

  #post(route: string, body: unknown): Promise<Response> {
    const headers = { "content-type": "application/json" };
    const signal = AbortSignal.timeout(LATE_MS);
    const init = { method: "POST", headers, body: JSON.stringify(body), signal };
    return this.#tokens.fetch(`${this.#base}/${route}`, init);
  }

  #failed(error: Error): void {
    const told = noticeOf(error, this.#turn);
    // While all is read anew, nothing was asked of the agent that could be asked again.
    const notice: Notice = this.loading && told.step === "retry" ? { ...told, step: "reconnect" } : told;
    if (this.#silent && notice.step === "reach" && error instanceof TypeError) this.#warn();
    if (notice.step === "retry") {
      if (this.#turn === "runs") this.#sent = null; // It came to the agent, and to this.
      this.#turn = "none";
    }
    const wait = notice.byItself && WAITS_MS[this.#tries];
    this.#set({ notice, agent: "", stopping: false, loading: wait !== undefined && notice.step !== "reach" });
    if (wait === undefined || this.#ended) return;
    this.#tries += 1;
    this.#timer = setTimeout(() => void this.#catchUp(), wait);
  }

  /** For whoever puts the widget on a page: a browser tells no script why a request failed. */
  #warn(): void {
    this.#silent = false;
    const { url } = this.settings;
    console.warn(
      `turnwire widget: no answer from ${url}. Likely TURNWIRE_CORS_ORIGINS there lacks ${self.origin}, or it is down.`,
    );
  }

  #set(change: Partial<Omit<View, "messages" | "busy">>): void {
    this.#rest = { ...this.#rest, ...change };
    this.#changed();
  }

  /** Deltas come faster than anybody reads: what changed is drawn a few times a second. */
  #changed(): void {
    if (this.#drawing) return;
    this.#drawing = true;
    setTimeout(() => {
      this.#drawing = false;
      // To look for a turn makes the chat busy too.
      const busy = this.busy && !this.loading;
      if (!this.#ended) this.draw({ ...this.#rest, messages: this.#chat.messages, busy });
    }, DRAW_MS);
  }
}

function textOf(message: UIMessage | undefined): string {
  const texts = message?.parts.map((part) => (part.type === "text" ? part.text : ""));
  return texts?.join("").trim() ?? "";
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
