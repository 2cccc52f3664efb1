// A gateway, an agent and a line that breaks, in processes of their own, for one file of tests.
// The packages of `clients` share no code, not even of their tests: each is compiled from its own folder alone. So the lines
// that talk to the process stand in each of them.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createInterface, type Interface } from "node:readline";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
/** It decides when to give up, and nothing else: a busy machine stretches all times. */
const PATIENCE_MS = 60_000;

export class Stage {
  url = "";
  token = "";
  expired = "";
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  readonly #reading: Interface;

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

  /** The reasons that the session's turns ended by, once all have: the client has the last text before. */
  async ended(session: string): Promise<unknown> {
    let reasons: (string | null)[] = [];
    await until(async () => {
      reasons = (await this.command("runs", session)) as (string | null)[];
      return reasons.length > 0 && !reasons.includes(null);
    });
    return reasons;
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

export async function until(fact: () => boolean | Promise<boolean>): Promise<void> {
  for (const began = Date.now(); !(await fact()); await new Promise((resolve) => setTimeout(resolve, 10))) {
    if (Date.now() - began > PATIENCE_MS) throw new Error(`It did not happen: ${fact}`);
  }
}
