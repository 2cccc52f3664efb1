// A gateway and an agent in processes of their own, for one file of tests.
// The packages of `clients` share no code, not even of their tests: each is compiled from its own folder alone. So the lines
// that talk to the process stand in each of them.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createInterface, type Interface } from "node:readline";
import { fileURLToPath } from "node:url";

import { openSession, type Options, type PlainChat, type Session, type State, withToken } from "../src/index.js";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
/** How long nothing may happen. It decides when to give up, and nothing else: a busy machine stretches all times. */
const PATIENCE_MS = 60_000;

export class Stage {
  url = "";
  token = "";
  expired = "";
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  readonly #reading: Interface;
  readonly #sessions: Session<PlainChat>[] = [];

  private constructor() {
    this.#process = spawn(`${ROOT}.venv/bin/python`, ["tests/clients/stage.py"], { cwd: ROOT });
    this.#process.stderr.pipe(process.stderr);
    this.#reading = createInterface(this.#process.stdout);
    this.#lines = this.#reading[Symbol.asyncIterator]();
  }

  static async start(): Promise<Stage> {
    const stage = new Stage();
    Object.assign(stage, await stage.#line());
    return stage;
  }

  async end(): Promise<void> {
    for (const session of this.#sessions) session.end();
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    this.#process.stdin.end();
    await ended;
    this.#reading.close();
  }

  /** See tests/clients/stage.py. */
  async command(...command: unknown[]): Promise<unknown> {
    this.#process.stdin.write(`${JSON.stringify(command)}\n`);
    return this.#line();
  }

  /** A client of a session; without a name, of one that nobody used before. */
  client(options: Partial<Options> = {}): Session<PlainChat> {
    const session = openSession({
      url: this.url,
      session: newSession(),
      fetch: withToken(() => this.token),
      ...options,
    });
    this.#sessions.push(session);
    return session;
  }

  /** The reasons that the session's turns ended by, once all have: the client has the last text before. */
  async ended(session: string): Promise<unknown> {
    for (const began = Date.now(); ; await new Promise((resolve) => setTimeout(resolve, 50))) {
      const reasons = (await this.command("runs", session)) as (string | null)[];
      if (!reasons.includes(null) || Date.now() - began > PATIENCE_MS) return reasons;
    }
  }

  async #line(): Promise<unknown> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error("the stage is gone");
    return JSON.parse(value);
  }
}

export function newSession(): string {
  return `node-${randomUUID().slice(0, 8)}`;
}

/** Wait until the state is so; fail, with the state, once it does not change any more. */
export async function until(session: Session<PlainChat>, holds: (state: State) => boolean): Promise<State> {
  let leave = () => {};
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(JSON.stringify(session.getState(), null, 1))), PATIENCE_MS);
  });
  const reached = new Promise<void>((resolve) => {
    const look = () => {
      timer?.refresh();
      if (holds(session.getState())) resolve();
    };
    leave = session.subscribe(look);
    look();
  });
  await Promise.race([reached, late]).finally(() => {
    clearTimeout(timer);
    leave();
  });
  return session.getState();
}

/** Wait until something is so that no session tells. */
export async function happened(fact: () => boolean): Promise<void> {
  for (const began = Date.now(); !fact(); await new Promise((resolve) => setTimeout(resolve, 10))) {
    if (Date.now() - began > PATIENCE_MS) throw new Error(`It did not happen: ${fact}`);
  }
}

/** Until the history is there and nothing runs. */
export async function opened(session: Session<PlainChat>): Promise<Session<PlainChat>> {
  session.open();
  await until(session, ({ loading, looking }) => !loading && !looking);
  return session;
}

export async function idle(session: Session<PlainChat>): Promise<State> {
  return until(session, ({ status, looking, recovering }) => status === "ready" && !looking && !recovering);
}

/** What stands there, one line for each message, without Markdown. */
export function said({ messages }: Pick<State, "messages">): string[] {
  return messages.map(({ role, parts }) => {
    const texts = parts.map((part) => (part.type === "text" ? part.text : ""));
    return `${role}: ${texts.join("").replaceAll("**", "")}`;
  });
}
