// One session as a client has it: the chat, what the agent does, what went wrong and what is done
// about it. Everything that must be right after a break is read anew from the agent: its history, and
// the turn that runs.
import {
  type AbstractChat,
  type ChatRequestOptions,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from "ai";

import { Answers } from "./answers.js";
import { asksApproval, stopped } from "./asking.js";
import { type Init, PlainChat } from "./chat.js";
import { Endpoint } from "./endpoint.js";
import { Half } from "./half.js";
import { History } from "./history.js";
import { Line } from "./line.js";
import { found, type Notice, noticeOf, noticeOfAnswer, noticeOfEnd, noticeOfLook, type Turn } from "./notice.js";
import { pause } from "./pause.js";
import type { Endings, Options } from "./ports.js";
import { Resume } from "./resume.js";
import { type Flags, IDLE, type State, Store, WAITING } from "./state.js";
import { finishOf } from "./streams.js";
import { EXPECTED_MS, LOOK_MS, PAGE, SILENCE_MS, STOP_MS } from "./times.js";
import { Tries } from "./tries.js";
import { isNews, type Prompt, Unsent, withFiles, writtenOf } from "./unsent.js";
import { Work } from "./work.js";

export class Session<C extends AbstractChat<UIMessage>> {
  readonly chat: C;
  readonly #options: Options;
  readonly #endpoint: Endpoint;
  readonly #half = new Half();
  readonly #history: History;
  readonly #line: Line;
  readonly #store = new Store();
  readonly #answers = new Answers();
  readonly #resume = new Resume();
  readonly #tries = new Tries();
  readonly #unsent = new Unsent();
  readonly #work = new Work();
  #state: State | null = null;
  #turn: Turn = "none";
  /** The id of the newest turn, once its stream has named it. */
  #turnId: string | undefined;
  /** The id of the last message, when a turn began. */
  #after: string | undefined;
  /** How many turns were begun: what is under way for an older one leaves the newest alone. */
  #begun = 0;
  /** What begins a turn now, until that turn is over. */
  #begins: symbol | null = null;
  #announced = false;
  /** Whether a history was asked for that is not shown yet. */
  #behind = true;
  #looks = false;
  /** The stop that is under way, and of which turn. */
  #stop: { turn: string; done: Promise<void> } | null = null;
  #ended = false;

  /** `makeChat` makes the chat of a framework; `openSession` needs none. */
  constructor(options: Options, makeChat: (init: Init, changed: () => void) => C) {
    const { url = "", session, nativeApprovals = false, silenceMs = SILENCE_MS, slots } = options;
    const asked: typeof fetch = options.fetch ?? ((input, init) => fetch(input, init));
    // A framework's chat can be asked to send, whatever became of its session.
    const send: typeof fetch = async (input, init) => {
      if (this.#ended) throw new DOMException("The session has ended", "AbortError");
      return asked(input, init);
    };
    this.#options = options;
    this.#endpoint = new Endpoint(`${url}/api/sessions/${encodeURIComponent(session)}`, send);
    this.#history = new History(this.#endpoint, options.memory);
    const headers: Record<string, string> = nativeApprovals ? { "x-turnwire-profile": "7.1" } : {};
    this.#line = new Line(
      { api: this.#endpoint.url("chat"), send, headers, silenceMs, slots, sendsAll: () => this.#history.isOurs },
      {
        sending: (prompt) => this.#sending(prompt),
        accepted: () => {
          this.#tries.opened(Date.now());
          if (this.#flags.agent === IDLE) this.#set({ agent: WAITING });
        },
        lives: () => this.#tries.lives(Date.now()),
        began: (turnId) => {
          this.#turn = "runs";
          if (turnId !== undefined) this.#turnId = turnId;
          this.#half.began(this.chat, turnId);
        },
        follows: () => {
          [this.#turn, this.#turnId] = ["runs", undefined];
          this.#resume.opened();
        },
      },
    );
    this.#store.subscribe(() => (this.#state = null));
    const init: Init = {
      id: session,
      transport: this.#line,
      onData: (part) => this.#data(part.type, part.data),
      onFinish: ({ isError, isAbort, message }) => this.#over(message, isError, isAbort),
      onError: (error) => this.#failed(error),
    };
    if (nativeApprovals) init.sendAutomaticallyWhen = lastAssistantMessageIsCompleteWithApprovalResponses;
    this.chat = makeChat(init, () => this.#store.changed());
  }

  /** The same object until something changes. Of a framework's chat, subscribe to its messages there. */
  getState = (): State => {
    this.#state ??= { ...this.#flags, messages: this.chat.messages, status: this.chat.status };
    return this.#state;
  };

  subscribe = (listener: () => void): (() => void) => this.#store.subscribe(listener);

  get busy(): boolean {
    return this.chat.status === "submitted" || this.chat.status === "streaming";
  }

  /** Whether a turn waits for an approval: it runs, though no stream does. */
  get asking(): boolean {
    return !this.busy && asksApproval(this.chat.lastMessage);
  }

  /** Whether the history was read. */
  get known(): boolean {
    return !this.#behind;
  }

  /** History first, then the turn that runs, if one does. */
  open(): void {
    if (this.busy || this.#flags.looking || this.#ended) return;
    this.#tries.anew();
    this.#work.once(() => this.#catchUp());
  }

  /** The same by hand, after a break. */
  reconnect(): void {
    this.#tries.anew();
    if (this.#ended || this.#work.rests) return this.#work.wake();
    this.#set({ recovering: true });
    this.#work.once(async () => {
      if (this.busy) this.#set({ notice: null, recovering: false });
      else await this.#catchUp();
    });
  }

  /** The network is back: what was open before it went may hang for minutes before it breaks. */
  back(): void {
    this.#tries.anew();
    if (this.busy) this.#line.cut();
    else if (this.#work.rests || this.#flags.notice?.step === "reconnect") this.reconnect();
    else this.look();
  }

  /** Another client began a turn, or may have: look, without a word if nothing changed. */
  look(expected = false): void {
    if (this.#looks) return;
    this.#looks = true;
    // Behind what is under way: to look for a turn makes the chat busy too.
    void this.#work.alone(async () => {
      this.#looks = false;
      for (const wait of expected ? EXPECTED_MS : [0]) {
        await pause(wait);
        if (this.busy || this.#ended) return;
        try {
          if (!(await this.#changed()) || this.busy) continue;
          this.#tries.anew();
          return await this.#catchUp();
        } catch {
          return; // The next look, or the next prompt, will state what is wrong.
        }
      }
    });
  }

  /** A prompt; it is refused if a turn is found to run, or if the session has ended. */
  async send(prompt: Prompt, options?: ChatRequestOptions): Promise<void> {
    const read = withFiles(prompt);
    // Without files to read, whoever calls is busy at once.
    const whole = read instanceof Promise ? await read : read;
    const isSent = await this.begin(() => this.chat.sendMessage(whole, options));
    if (!isSent && whole !== undefined) this.#store.refuse(writtenOf(whole));
  }

  /** Send the last prompt again. */
  retry(): void {
    if (this.chat.messages.length === 0) this.reconnect();
    else void this.begin(() => this.chat.regenerate());
  }

  /** Whatever begins a turn: what went wrong before is over, and what waits gets no approval.
   * False if a turn runs, or if the session has ended. */
  async begin(turn: () => Promise<void>): Promise<boolean> {
    if (this.#begins !== null || this.#ended) return false;
    const beginning = Symbol("beginning");
    this.#begins = beginning;
    try {
      await this.#looked();
      if (this.busy) return false;
      this.#set({ notice: null });
      this.chat.clearError();
      // Behind a turn that waits, the next one would wait too, and nobody would know for what.
      if (this.asking) await this.#stopTurn();
      if (this.busy || this.#ended) return false;
      this.#begun += 1;
      this.#after = this.chat.lastMessage?.id;
      await turn();
      return true;
    } finally {
      if (this.#begins === beginning) this.#begins = null;
    }
  }

  /** Stop the turn at the agent; the stream then ends by itself. */
  stop = (): Promise<void> => {
    if (this.#ended || (!this.busy && !this.asking)) return Promise.resolve();
    const turn = `${this.#begun} ${this.#running() ?? ""}`;
    if (this.#stop?.turn === turn) return this.#stop.done;
    const done = this.#stopTurn().then((isKnown) => {
      if (this.#stop === stop) this.#stop = null;
      // The turn may run on, and must not do so unseen.
      if (!isKnown) void this.#work.alone(() => this.#catchUp());
    });
    const stop = { turn, done };
    this.#stop = stop;
    return done;
  };

  /** False if it was not taken; the notice says why. The first answer to a question counts: another
   * is not sent, and has the same result. */
  answer(questionId: string, answer: unknown, approvalId?: string): Promise<boolean> {
    if (this.#ended) return Promise.resolve(false);
    return this.#answers.first(questionId, async () => {
      const refused = await this.#endpoint.answer(questionId, answer, approvalId);
      if (refused !== null) this.#set({ notice: noticeOfAnswer(refused, this.#turn) });
      return refused === null;
    });
  }

  dismiss(): void {
    this.#set({ notice: null });
    this.chat.clearError();
  }

  /** These refused prompts are where they were written. */
  tookBack(prompts: readonly UIMessage[]): void {
    this.#store.tookBack(prompts);
  }

  /** Nothing more is read. A turn that runs goes on for as long as the gateway allows. */
  end(): void {
    this.#ended = true;
    this.#work.wake();
    void this.chat.stop().then(() => this.#line.giveBack());
  }

  get #flags(): Flags {
    return this.#store.flags;
  }

  get #endings(): Endings | undefined {
    return this.#options.endings;
  }

  #set(change: Partial<Flags>): void {
    this.#store.set(change);
  }

  /** The turn whose stream is here, or that waits; another must not be stopped in its place. */
  #running(): string | undefined {
    return this.asking ? this.chat.lastMessage?.id : this.#turnId;
  }

  /** False if it is not known whether the turn runs on. */
  async #stopTurn(): Promise<boolean> {
    const asked = this.asking ? this.chat.lastMessage : undefined;
    const begun = this.#begun;
    const isOurs = () => this.busy && this.#begun === begun;
    this.#set({ stopping: true });
    const isStopped = await this.#endpoint.stop(this.#running());
    const until = Date.now() + (isStopped === null ? 0 : STOP_MS);
    while (isOurs() && Date.now() < until) await pause(50);
    const goesOn = isOurs();
    if (goesOn) await this.chat.stop();
    while (goesOn && isOurs()) await pause(10);
    if (goesOn && isStopped === true) this.#settle(this.chat.lastMessage?.id);
    if (asked !== undefined && isStopped !== null) {
      this.chat.messages = this.chat.messages.map((each) => (each.id === asked.id ? stopped(each) : each));
      this.#history.keep(this.chat.messages);
      this.#endings?.ended(asked.id, "stopped");
    }
    this.#set({ stopping: false, agent: IDLE });
    return goesOn ? isStopped === true : asked === undefined || isStopped !== null;
  }

  #settle(id: string | undefined): void {
    this.#turn = "none";
    this.#unsent.settle();
    this.#endings?.ended(id, "stopped");
  }

  #data(type: string, data: unknown): void {
    if (!this.#announced && !this.#line.follower) {
      this.#announced = true;
      this.#options.onTurn?.("began");
    }
    if (type === "data-agent-status") this.#set({ agent: data as Flags["agent"] });
    if (type === "data-question") {
      const { questionId, state } = data as { questionId: string; state?: unknown };
      if (state === "open") this.#answers.stated(questionId);
      this.#set({ agent: { status: state === "open" ? "asking" : "thinking" } });
    }
  }

  #over(message: UIMessage, isError: boolean, isAbort: boolean): void {
    this.#history.keep(this.chat.messages);
    if (finishOf(message)?.reason === "canceled") this.#endings?.ended(message.id, "stopped");
    else if (!isError) this.#endings?.ended(message.id, null);
    // Who could not follow sees now that the answer is whole.
    if (this.#announced) this.#options.onTurn?.("over");
    this.#announced = false;
    // Whoever sees that the turn is over may begin the next at once.
    if (!this.#line.follower) this.#begins = null;
    this.#line.giveBack();
    if (isError) return this.#tries.broke(this.#turnId, message);
    this.#tries.anew();
    // A stream that was left here says nothing of its turn.
    if (!isAbort) {
      this.#turn = "none";
      this.#unsent.settle();
    }
    this.#set({ agent: IDLE, stopping: false, progress: { over: message.id } });
    if (!isAbort && (this.#behind || this.#unsent.hasOlder)) void this.#work.alone(() => this.#readBehind());
  }

  #sending({ messages, trigger }: Parameters<Line["sendMessages"]>[0]): void {
    const message = messages.at(-1);
    this.#history.keep(messages);
    this.#tries.anew();
    this.#endings?.ended(message?.id, null);
    this.#set({ progress: "sent" });
    if (message?.role !== "user") {
      [this.#turn, this.#turnId] = ["runs", message?.id]; // An approval, of a turn that waits.
      return;
    }
    [this.#turn, this.#turnId] = ["asked", undefined];
    this.#unsent.sending(messages, trigger === "regenerate-message", this.#after);
  }

  /** Until no look is under way: one that finds no turn calls the chat ready, whatever began meanwhile. */
  async #looked(): Promise<void> {
    const isLate = await Promise.race([this.#work.done.then(() => false), pause(LOOK_MS).then(() => true)]);
    if (!isLate || this.busy) return;
    this.#line.giveUpLook();
    await this.#resume.over;
  }

  async #catchUp(): Promise<void> {
    const begun = this.#begun;
    const isOld = () => this.#ended || begun !== this.#begun;
    const leave = (change: Partial<Flags> = {}) =>
      this.#set({ loading: false, looking: false, recovering: false, ...change });
    if (this.#tries.areLeft) this.#behind = true;
    for (let wait = this.#tries.next(); wait !== null; wait = this.#tries.next()) {
      await this.#work.rest(wait);
      if (isOld()) return leave();
      this.#set({ looking: true, recovering: wait > 0 || this.#flags.notice !== null });
      try {
        this.chat.clearError();
        const history = await this.#history.read();
        if (this.busy || isOld()) return leave(); // What began meanwhile is newer.
        const isFound = await this.#compare(history, isOld);
        if (isOld()) return leave();
        if (isFound === "again") continue;
        return leave(isFound === "old" ? {} : { notice: isFound });
      } catch (error) {
        if (isOld()) return leave();
        const notice = noticeOfLook(error as Error, this.#turn);
        if (!notice.automatic) return leave({ notice });
        this.#tell(notice);
      }
    }
    const notice = this.#flags.notice ?? noticeOfLook(new TypeError(), this.#turn);
    leave({ notice: { ...notice, gaveUp: true } });
  }

  /** Show the history, and follow the turn that runs. The notice of what was found; "again" where the
   * look failed, "old" where it came to nothing. */
  async #compare(history: UIMessage[] | null, isOld: () => boolean): Promise<Notice | null | "again" | "old"> {
    const { chat } = this;
    const broke = this.#turn !== "none";
    // All but the newest prompt and its answer was told by the agent before.
    const forgotten = history !== null && !this.#history.isOurs && history.length < Math.min(chat.messages.length - 2, PAGE);
    let shown = history;
    const before = this.#show(history, this.#turn === "runs");
    this.#set({ loading: false });
    await this.#resume.look(chat);
    if (isOld()) return "old";
    if (chat.status === "error") return this.#flags.notice?.automatic === false ? "old" : "again";
    // It may have ended between the two requests.
    const there = this.#half.without(chat);
    if (!this.busy && there.length === before && there.at(-1)?.role === "user") {
      shown = await this.#history.read();
      if (this.busy || isOld()) return "old";
      this.#show(shown);
    }
    if (!this.busy) this.#half.leave(chat);
    // What the agent is doing was told before this stream began.
    if (this.busy && this.#flags.agent === WAITING) this.#set({ agent: { status: "streaming" } });
    return this.#found(shown, broke, forgotten);
  }

  #found(history: UIMessage[] | null, broke: boolean, forgotten: boolean): Notice | null {
    if (this.busy) return this.#complete(null);
    this.#turn = "none";
    const last = this.chat.lastMessage;
    const lost = this.#unsent.isLost(history);
    if (!lost) this.#unsent.settle();
    if (!lost && last?.role !== "user") {
      if (broke && last !== undefined) this.#set({ progress: { over: last.id } });
      return this.#complete(broke ? noticeOfEnd(last) : null);
    }
    if (this.#line.crowded) return found("crowded");
    const code = forgotten ? "forgotten" : lost ? "not_sent" : broke || this.#history.isOurs ? "unanswered" : null;
    if (code === null) return null;
    if (last?.role === "user") this.#endings?.ended(last.id, found(code));
    return found(code);
  }

  #complete(notice: Notice | null): Notice | null {
    this.#endings?.complete(this.chat.messages);
    return notice;
  }

  /** Returns how many messages there are without the half of an answer that may go on. */
  #show(history: UIMessage[] | null, goesOn = false): number {
    this.#behind = false;
    if (history === null) return this.chat.messages.length;
    this.#endings?.read(history);
    const count = this.#half.show(this.chat, this.#unsent.shown(history), goesOn);
    this.#store.refuse(...this.#unsent.takeLost(history));
    return count;
  }

  /** What was said before a turn that is over, where it was never read. */
  async #readBehind(): Promise<void> {
    if (this.busy || this.asking || this.#ended) return;
    const begun = this.#begun;
    const history = await this.#history.read().catch(() => null);
    if (history !== null && !this.busy && begun === this.#begun) this.#show(history);
  }

  /** Whether the history has something newer than this client. */
  async #changed(): Promise<boolean> {
    const history = await this.#history.read();
    if (this.#behind) return true;
    // What this client kept last stands here, unless another one that shares it went on.
    if (this.#history.isOurs) return history !== null && JSON.stringify(history) !== JSON.stringify(this.chat.messages);
    return isNews(history, this.chat.messages, this.asking || this.#turn !== "none");
  }

  #failed(error: Error): void {
    this.#line.giveBack();
    const turn = this.#turn;
    const notice = this.#resume.isUnderWay ? noticeOfLook(error, turn) : noticeOf(error, turn);
    this.#set({ agent: IDLE, stopping: false, progress: notice.automatic ? null : "failed" });
    this.#tell(notice);
    if (this.#resume.isUnderWay) return;
    const last = this.chat.lastMessage;
    if (notice.step === null && last?.role === "user") {
      this.#unsent.drop();
      this.#settle(undefined);
      this.chat.messages = this.chat.messages.slice(0, -1);
      this.#store.refuse(last);
      return;
    }
    if (!notice.automatic) {
      if (turn === "runs") this.#unsent.settle(); // It came to the agent, and to this.
      this.#turn = "none";
      this.#endings?.ended(last?.id, notice);
      return;
    }
    void this.#work.alone(async () => {
      // A try that failed asks for this too, and another may have mended it since.
      if (!this.busy && !this.#ended) await this.#catchUp();
    });
  }

  /** What broke is told once, and not that it is broken still. */
  #tell(notice: Notice): void {
    const isTold = notice.automatic && this.#flags.notice?.automatic === true && this.#flags.recovering;
    if (!isTold) this.#set({ notice });
  }
}

/** A session without a framework. Nothing is asked of the gateway before `open`. */
export function openSession(options: Options): Session<PlainChat> {
  return new Session(options, (init, changed) => new PlainChat(init, changed));
}
