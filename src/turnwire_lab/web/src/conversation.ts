// One session as this tab has it: the chat, what the agent is doing, what went wrong and what is
// done about it. Everything that must be right after a break is read anew from the agent: its
// history, and the turn that runs.
import { Chat, type UIMessage } from "@ai-sdk/react";
import { type ChatRequestOptions, DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from "ai";

import { asksApproval, stopped } from "./asking";
import { Endpoint, Retryable } from "./endpoint";
import { authorization, type Setup } from "./lab";
import { Marks } from "./marks";
import {
  CROWDED,
  FORGOTTEN,
  LOST_FOR_GOOD,
  noticeOf,
  noticeOfEnd,
  noticeOfLook,
  reasonOf,
  STOPPED,
  WITHOUT_ANSWER,
} from "./notice";
import { pause } from "./pause";
import { CutShort, heard, wholeOrFailed } from "./streams";
import { NoPlace, type Place, takePlace, tell } from "./tabs";
import { type Prompt, withUnsent, writtenOf } from "./unsent";
import { type AgentStatus, IDLE, type View, WAITING } from "./view";

const TRIES_MS = [0, 400, 800, 1600, 3200, 5000];
export const POLL_MS = 10_000;
// A flood of deltas is drawn this often, not as often as it comes.
export const REDRAW_MS = 40;
const STOP_MS = 3_000;
// A prompt waits this long for a look at what runs; then that is given up.
const LOOK_MS = 3_000;

export class Conversation {
  readonly chat: Chat<UIMessage>;
  readonly #marks: Marks;
  readonly #endpoint: Endpoint;
  #view: View;
  #listeners = new Set<() => void>();
  #place: Place | null = null;
  #crowded = false;
  #cut = new AbortController();
  #work: Promise<void> = Promise.resolve();
  #told = false;
  #looking = false;
  #aborted = false;
  #begins = false;
  /** Whether a history was asked for that is not shown yet. */
  #behind = true;
  /** A look is under way, which tries again by itself. */
  #resuming = false;
  /** How many prompts there were: a look that began before the newest has nothing to say. */
  #begun = 0;
  #look = new AbortController();
  #resumed: Promise<void> = Promise.resolve();

  constructor(
    readonly setup: Setup,
    readonly session: string,
  ) {
    this.#endpoint = new Endpoint(setup, session);
    this.#marks = new Marks(session, (ended) => this.#set({ ended }));
    this.#view = {
      ...{ agent: IDLE, notice: null, loading: true, recovering: false, stopping: false },
      ...{ ended: this.#marks.all, progress: null, refused: null },
    };
    this.chat = new Chat<UIMessage>({
      id: session,
      transport: this.#transport(),
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
      onData: (part) => {
        this.#announce();
        if (part.type === "data-agent-status") this.#set({ agent: part.data as AgentStatus });
        if (part.type === "data-question") {
          const open = (part.data as { state?: unknown }).state === "open";
          this.#set({ agent: { status: open ? "asking" : "thinking" } });
        }
      },
      onFinish: ({ isError, message }) => {
        if (this.#aborted) this.#marks.set(message.id, STOPPED);
        else if (!isError) this.#marks.set(message.id, null);
        this.#aborted = false;
        // Who could not follow sees now that the answer is whole.
        if (this.#told) tell({ kind: "turn", session: this.session });
        this.#told = false;
        this.#giveBack();
        if (!isError) this.#set({ agent: IDLE, stopping: false, progress: { over: message.id } });
      },
      onError: (error) => this.#failed(error),
    });
  }

  get busy(): boolean {
    return this.chat.status === "submitted" || this.chat.status === "streaming";
  }

  /** Whether a turn waits for an approval: it runs, though no stream does. */
  get asking(): boolean {
    return !this.busy && asksApproval(this.chat.lastMessage);
  }

  view = (): View => this.#view;

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** History first, then the turn that runs, if one does. */
  open(): void {
    void this.#alone(() => this.#catchUp(TRIES_MS));
  }

  /** The same by hand, after a break. */
  reconnect(): void {
    this.#set({ recovering: true });
    void this.#alone(async () => {
      if (this.busy) this.#set({ notice: null, recovering: false });
      else await this.#catchUp(TRIES_MS);
    });
  }

  /** The network is back: what was open before it went may hang for minutes before it breaks. */
  back(): void {
    if (this.busy) this.#cut.abort(new CutShort());
    else if (this.#view.notice?.step === "reconnect") this.reconnect();
    else this.look();
  }

  /** Another tab began a turn, or may have: look, without a word if nothing changed. */
  look(expected = false): void {
    if (this.#looking) return;
    this.#looking = true;
    // Behind what is under way: to look for a turn makes the chat busy too.
    void this.#alone(async () => {
      this.#looking = false;
      for (const wait of expected ? [0, 250, 500, 1000] : [0]) {
        await pause(wait);
        if (this.busy) return;
        try {
          if ((await this.#changed()) && !this.busy) return await this.#catchUp(TRIES_MS);
        } catch {
          return; // The next look, or the next prompt, will say what is wrong.
        }
      }
    });
  }

  /** A prompt; it goes back to where it was written if a turn is found to run. */
  async send(prompt: Prompt, options?: ChatRequestOptions): Promise<void> {
    const sent = await this.anew(() => this.chat.sendMessage(prompt, options));
    if (!sent) this.#set({ refused: writtenOf(prompt) });
  }

  retry(): void {
    void this.anew(() => this.chat.regenerate());
  }

  /** Whatever begins a turn: what went wrong before is over, and what waits gets no approval.
   * False if a turn runs. */
  async anew(begin: () => Promise<void>): Promise<boolean> {
    if (this.#begins) return false;
    this.#begins = true;
    try {
      await this.#looked();
      if (this.busy) return false;
      this.#set({ notice: null });
      this.chat.clearError();
      // Behind a turn that waits, the next one would wait too, and nobody would know for what.
      if (this.asking) await this.stop();
      if (this.busy) return false;
      this.#begun += 1;
      await begin();
      return true;
    } finally {
      this.#begins = false;
    }
  }

  /** Until no look is under way: one that finds no turn calls the chat ready, whatever began meanwhile. */
  async #looked(): Promise<void> {
    const late = await Promise.race([this.#work.then(() => false), pause(LOOK_MS).then(() => true)]);
    if (!late || this.busy) return;
    this.#look.abort();
    await this.#resumed;
  }

  /** Stop the turn at the agent; the stream then ends by itself. */
  stop = async (): Promise<void> => {
    const asked = this.asking ? this.chat.lastMessage : undefined;
    if (!this.busy && asked === undefined) return;
    const begun = this.#begun;
    const isOurs = () => this.busy && this.#begun === begun;
    this.#set({ stopping: true });
    const told = await this.#endpoint.stop();
    const until = Date.now() + (told === null ? 0 : STOP_MS);
    while (isOurs() && Date.now() < until) await pause(50);
    const goesOn = isOurs();
    if (goesOn) await this.chat.stop();
    while (goesOn && isOurs()) await pause(10);
    if (goesOn && told === true) this.#marks.set(this.chat.lastMessage?.id, STOPPED);
    if (asked !== undefined && told !== null) {
      this.chat.messages = this.chat.messages.map((each) => (each.id === asked.id ? stopped(each) : each));
      this.#marks.set(asked.id, STOPPED);
    }
    this.#set({ stopping: false, agent: IDLE });
    // The turn may run on, and must not do so unseen.
    if (goesOn && told !== true) void this.#alone(() => this.#catchUp(TRIES_MS));
  };

  async answer(questionId: string, answer: unknown, approvalId?: string): Promise<boolean> {
    const refused = await this.#endpoint.answer(questionId, answer, approvalId);
    if (refused !== null) this.#set({ notice: noticeOf(refused) });
    return refused === null;
  }

  dismiss(): void {
    this.#set({ notice: null });
    this.chat.clearError();
  }

  /** The refused prompt is where it was written. */
  tookBack(): void {
    this.#set({ refused: null });
  }

  #transport(): DefaultChatTransport<UIMessage> {
    const transport = new DefaultChatTransport<UIMessage>({
      api: this.#endpoint.url("chat"),
      headers: { ...authorization(this.setup), "x-turnwire-profile": "7" },
      // The agent owns the history, and only the last message is read.
      prepareSendMessagesRequest: ({ id, messages, trigger, messageId }) => ({
        body: { id, messages: messages.slice(-1), trigger, messageId },
      }),
      fetch: (input, init) => this.#fetch(input, init),
    });
    const send = transport.sendMessages.bind(transport);
    transport.sendMessages = async (options) => {
      const place = await takePlace(false);
      if (place === null) throw new NoPlace();
      this.#marks.set(options.messages.at(-1)?.id, null);
      this.#set({ progress: "sent" });
      return heard(await this.#holding(place, send(options)), () => (this.#aborted = true));
    };
    const reconnect = transport.reconnectToStream.bind(transport);
    transport.reconnectToStream = async (options) => {
      const look = new AbortController();
      this.#look = look;
      const place = await takePlace(true);
      this.#crowded = place === null;
      const abortSignal = AbortSignal.any([look.signal, ...(options.abortSignal ? [options.abortSignal] : [])]);
      const resumed = place && this.#holding(place, reconnect({ ...options, abortSignal }));
      const stream = await resumed;
      return stream && heard(stream, () => (this.#aborted = true));
    };
    return transport;
  }

  /** The stream, and its place for as long as it lasts. */
  async #holding<T>(place: Place, opening: Promise<T>): Promise<T> {
    const stream = await opening.catch((error: unknown) => {
      place.giveBack();
      throw error;
    });
    if (stream === null) place.giveBack();
    else this.#place = place;
    return stream;
  }

  async #fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
    const cut = new AbortController();
    this.#cut = cut;
    const signal = AbortSignal.any([cut.signal, ...(init?.signal ? [init.signal] : [])]);
    const response = await fetch(input, { ...init, signal });
    if (response.status === 200 && this.#view.agent === IDLE) this.#set({ agent: WAITING });
    return wholeOrFailed(response, () => cut.abort(new CutShort()));
  }

  async #catchUp(tries: number[]): Promise<void> {
    const begun = this.#begun;
    const isOld = () => begun !== this.#begun;
    const leave = () => this.#set({ loading: false, recovering: false });
    this.#behind = true;
    for (const [number, wait] of tries.entries()) {
      await pause(wait);
      if (isOld()) return leave();
      this.#set({ recovering: number > 0 || this.#view.notice !== null });
      try {
        this.chat.clearError();
        const history = await this.#endpoint.history();
        if (this.busy || isOld()) return leave(); // What began meanwhile is newer.
        // All but the newest prompt and its answer was told by the agent before.
        const forgotten = history.length < this.chat.messages.length - 2;
        this.#show(history);
        const before = this.chat.messages.length;
        this.#set({ loading: false });
        // Its end is the turn's end: what waits for this must not wait for that.
        this.#resuming = true;
        this.#resumed = this.chat.resumeStream();
        await this.#settled(this.#resumed);
        this.#resuming = false;
        if (isOld()) return leave();
        if (this.chat.status === "error" && this.#view.notice?.byItself === false) return leave();
        if (this.chat.status === "error") continue;
        if (!this.busy && this.chat.messages.length === before && this.chat.lastMessage?.role === "user") {
          const whole = await this.#endpoint.history();
          if (this.busy || isOld()) return leave();
          this.#show(whole);
        }
        // What the agent is doing was told before this stream began.
        if (this.busy && this.#view.agent === WAITING) this.#set({ agent: { status: "streaming" } });
        const answered = this.busy || this.chat.lastMessage?.role !== "user";
        const broke = this.#view.notice !== null;
        const last = this.chat.lastMessage;
        const cut = this.#view.notice?.byItself && !this.busy && last ? noticeOfEnd(last) : null;
        const without = this.#crowded ? CROWDED : forgotten ? FORGOTTEN : broke ? WITHOUT_ANSWER : null;
        this.#set({ recovering: false, notice: answered ? cut : without });
        if (broke && answered && !this.busy && last) this.#set({ progress: { over: last.id } });
        if (answered) this.#marks.answered(this.chat.messages);
        else if (without !== null && without !== CROWDED) this.#marks.set(this.chat.lastMessage?.id, reasonOf(without));
        return;
      } catch (error) {
        if (!(error instanceof TypeError) && !(error instanceof Retryable)) {
          this.#set({ loading: false, recovering: false, notice: noticeOfLook(error as Error) });
          return;
        }
      }
    }
    this.#set({ loading: false, recovering: false, notice: LOST_FOR_GOOD });
  }

  #show(history: UIMessage[]): void {
    this.#marks.read(history);
    this.chat.messages = withUnsent(history, this.chat.messages);
    this.#behind = false;
  }

  /** Until the resumed stream says something, or there is none. */
  async #settled(resumed: Promise<void>): Promise<void> {
    let over = false;
    void resumed.finally(() => (over = true));
    while (!over && this.chat.status !== "streaming" && this.#place?.follows !== true) await pause(20);
  }

  /** Whether the history has something newer than this tab. An answer that is not finished, or
   * waits for an approval, is here and not there: if it is there, it waits no more. */
  async #changed(): Promise<boolean> {
    const newest = (await this.#endpoint.history()).at(-1);
    if (this.#behind) return true;
    if (newest === undefined) return false;
    if (this.asking && newest.id === this.chat.lastMessage?.id) return true;
    return this.chat.messages.every((message) => message.id !== newest.id);
  }

  #failed(error: Error): void {
    this.#giveBack();
    const notice = this.#resuming ? noticeOfLook(error) : noticeOf(error);
    this.#set({ notice, agent: IDLE, stopping: false, progress: notice.byItself ? null : "failed" });
    if (this.#resuming) return;
    const last = this.chat.lastMessage;
    if (notice.step === null && last?.role === "user") {
      this.chat.messages = this.chat.messages.slice(0, -1);
      this.#set({ refused: last });
      return;
    }
    if (!notice.byItself) {
      this.#marks.set(last?.id, reasonOf(notice));
      return;
    }
    void this.#alone(async () => {
      // A try that failed asks for this too, and another may have mended it since.
      if (!this.busy) await this.#catchUp(TRIES_MS);
    });
  }

  /** One after the other: two that set the messages at once would undo each other. */
  #alone(work: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(work, work);
    return this.#work;
  }

  #announce(): void {
    if (this.#told || this.#place?.follows === true) return;
    this.#told = true;
    tell({ kind: "turn", session: this.session });
  }

  #giveBack(): void {
    this.#place?.giveBack();
    this.#place = null;
  }

  #set(change: Partial<View>): void {
    this.#view = { ...this.#view, ...change };
    for (const listener of this.#listeners) listener();
  }
}
