// The wire as the demo's own server tells it: entries, and which chunk came from which frame.
import { authorization, type Setup } from "./lab";
import { wireIsTaken, withWire } from "./tabs";

export type Lane = "request" | "command" | "frame" | "chunk" | "note";

export interface Entry {
  n: number;
  at: number;
  run: string;
  session: string;
  lane: Lane;
  kind: string;
  size: number;
  body: string;
}

interface Batch {
  entries: Entry[];
  links: [number, number][];
  skipped: number;
}

const KEPT = 3000;
const AGAIN_MS = 1500;
const LATEST = 200;

export class WireStore {
  entries: Entry[] = [];
  skipped = 0;
  connected = false;
  /** Another tab of this browser has it. */
  elsewhere = false;
  #byNumber = new Map<number, Entry>();
  #frameOf = new Map<number, number>();
  #chunksOf = new Map<number, number[]>();
  #newest = 0;
  #version = 0;
  #listeners = new Set<() => void>();

  version = (): number => this.#version;

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  entry(n: number | null): Entry | undefined {
    return n === null ? undefined : this.#byNumber.get(n);
  }

  frameOf(chunk: number): Entry | undefined {
    return this.#byNumber.get(this.#frameOf.get(chunk) ?? -1);
  }

  chunksOf(frame: number): Entry[] {
    return (this.#chunksOf.get(frame) ?? []).flatMap((n) => this.#byNumber.get(n) ?? []);
  }

  /** Milliseconds from the frame's arrival to the chunk's departure. */
  delay(chunk: Entry): number | undefined {
    const frame = this.frameOf(chunk.n);
    return frame === undefined ? undefined : chunk.at - frame.at;
  }

  /** The median of the newest delays of deltas, in milliseconds. */
  median(session: string): number | undefined {
    const delays = this.entries
      .slice(-LATEST * 4)
      .filter((entry) => entry.session === session && entry.kind === "text-delta")
      .flatMap((entry) => this.delay(entry) ?? [])
      .sort((a, b) => a - b);
    return delays[delays.length >> 1];
  }

  /** Whether there are deltas, though it may not be known which frames they came from: of a flood, those are gone. */
  hasDeltas(session: string): boolean {
    return this.entries.some((entry) => entry.session === session && entry.kind === "text-delta");
  }

  clear(): void {
    this.entries = [];
    this.skipped = 0;
    this.#byNumber.clear();
    this.#frameOf.clear();
    this.#chunksOf.clear();
    this.#changed();
  }

  /** Listen until told to stop; connect again whenever the line breaks. */
  async listen(setup: Setup, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        this.elsewhere = await wireIsTaken();
        this.#changed();
        await withWire(signal, () => this.#read(setup, signal));
      } catch {
        // The demo ended, or the page goes: the next try tells.
      }
      this.connected = false;
      this.#changed();
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }

  async #read(setup: Setup, signal: AbortSignal): Promise<void> {
    const response = await fetch("/lab/wire", { headers: authorization(setup), signal });
    if (!response.ok || response.body === null) return;
    this.connected = true;
    this.elsewhere = false;
    this.#changed();
    let rest = "";
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const records = (rest + value).split("\n\n");
      rest = records.pop() ?? "";
      for (const record of records) {
        if (record.startsWith("data: ")) this.#take(JSON.parse(record.slice(6)) as Batch);
      }
    }
  }

  #take(batch: Batch): void {
    // Who connects again is told the last entries once more.
    for (const entry of batch.entries) {
      if (entry.n <= this.#newest) continue;
      this.#newest = entry.n;
      this.entries.push(entry);
      this.#byNumber.set(entry.n, entry);
    }
    for (const [chunk, frame] of batch.links) {
      if (this.#frameOf.has(chunk)) continue;
      this.#frameOf.set(chunk, frame);
      const chunks = this.#chunksOf.get(frame);
      if (chunks === undefined) this.#chunksOf.set(frame, [chunk]);
      else chunks.push(chunk);
    }
    this.skipped += batch.skipped;
    if (this.entries.length > KEPT) {
      for (const gone of this.entries.splice(0, this.entries.length - KEPT)) {
        this.#byNumber.delete(gone.n);
        this.#frameOf.delete(gone.n);
        this.#chunksOf.delete(gone.n);
      }
    }
    this.#changed();
  }

  #changed(): void {
    this.#version += 1;
    for (const listener of this.#listeners) listener();
  }
}
