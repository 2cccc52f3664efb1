// The real server before scripted providers, in a process of its own, for one file of tests.
// The packages of `clients` share no code, not even of their tests: each is compiled from its own folder alone. So the lines
// that talk to the process stand in each of them.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createInterface, type Interface } from "node:readline";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

/** How a provider answers one request. */
export interface Answer {
  status?: number;
  body: string;
  silent?: boolean;
}

export class Stage {
  url = "";
  token = "";
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  readonly #reading: Interface;

  private constructor() {
    this.#process = spawn(`${ROOT}.venv/bin/python`, ["tests/runtime/generate/stage.py"], { cwd: ROOT });
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

  async answers(...answers: Answer[]): Promise<void> {
    await this.#command("answers", ...answers);
  }

  /** The bodies that the provider got. */
  async asked(): Promise<string[]> {
    return (await this.#command("asked")) as string[];
  }

  /** Milliseconds until the provider's connection is closed. */
  async hungUp(): Promise<number> {
    return (await this.#command("hung up")) as number;
  }

  async #command(...command: unknown[]): Promise<unknown> {
    this.#process.stdin.write(`${JSON.stringify(command)}\n`);
    return this.#line();
  }

  async #line(): Promise<unknown> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error("the stage is gone");
    return JSON.parse(value);
  }
}

/** Events of Anthropic's wire, each named by its type. */
export function messages(...events: { type: string; [field: string]: unknown }[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

const START = {
  type: "message_start",
  message: { id: "m1", model: "claude", role: "assistant", content: [], usage: { input_tokens: 10, output_tokens: 1 } },
};
const STOP = (reason: string) => [
  { type: "message_delta", delta: { stop_reason: reason }, usage: { output_tokens: 7 } },
  { type: "message_stop" },
];
const block = (index: number, start: object, ...deltas: object[]) => [
  { type: "content_block_start", index, content_block: start },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index },
];

/** The model thinks, and calls `weather`. */
export const CALLS = messages(
  START,
  ...block(
    0,
    { type: "thinking", thinking: "", signature: "" },
    { type: "thinking_delta", thinking: "Look outside." },
    { type: "signature_delta", signature: "c2lnbmF0dXJl/+==" },
  ),
  ...block(
    1,
    { type: "tool_use", id: "call_1", name: "weather", input: {} },
    { type: "input_json_delta", partial_json: '{"city": "Rome", ' },
    { type: "input_json_delta", partial_json: '"days": 1.50}' },
  ),
  ...STOP("tool_use"),
);

export const SUNNY = messages(
  START,
  ...block(0, { type: "text", text: "" }, { type: "text_delta", text: "It is " }, { type: "text_delta", text: "sunny." }),
  ...STOP("end_turn"),
);

/** An answer that stands still in its middle. */
export const BEGINS = messages(
  START,
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "It is " } },
);

export const BUSY: Answer = {
  status: 400,
  body: JSON.stringify({ type: "error", error: { type: "invalid_request_error", message: "canary words" } }),
};
