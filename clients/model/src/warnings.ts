// What of a call the model will not see. Each version of the specification has words of its own for it.

export interface Warning {
  /** A setting of the call by its name, or a place in the prompt. */
  feature: string;
  details: string;
  /** The tool that is not sent, as it was given. */
  tool?: unknown;
}

export class Warnings {
  readonly all: Warning[] = [];
  readonly #seen = new Set<string>();

  /** The same thing is told once. */
  add(feature: string, details: string, tool?: unknown): void {
    const key = JSON.stringify([feature, details]);
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.all.push({ feature, details, ...(tool === undefined ? {} : { tool }) });
  }
}
