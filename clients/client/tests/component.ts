// A component that uses the hook, without a browser.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

import { createElement, StrictMode, useEffect } from "react";

import type * as Hook from "../src/react.js";
import { installed } from "./packed.js";
import { until } from "./stage.js";

interface Root {
  unmount(): void;
  update(element: unknown): void;
}

const { create } = createRequire(import.meta.url)("react-test-renderer") as { create(element: unknown): Root };

const apps = new Map<string, Promise<string>>();

/** The hook of the package, installed beside this release of `ai` and its `@ai-sdk/react`. */
export async function hookOf(version: string): Promise<typeof Hook> {
  // The renderer says that it is deprecated, each time.
  console.error = () => {};
  if (!apps.has(version)) apps.set(version, installed(`app-react-${version}`, version));
  const app = await apps.get(version);
  return (await import(pathToFileURL(`${app}node_modules/turnwire-client/dist/react.js`).href)) as typeof Hook;
}

export class Component {
  /** What the last render had. */
  now = {} as Hook.Turnwire;
  readonly phases: string[] = [];
  readonly #hook: typeof Hook;
  readonly #root: Root;
  #shown: Hook.TurnwireOptions | undefined;
  #begin: ((now: Hook.Turnwire) => void) | undefined;

  /** `begin` is called once, when it is shown for the first time. */
  constructor(hook: typeof Hook, options: Hook.TurnwireOptions, begin?: (now: Hook.Turnwire) => void) {
    this.#hook = hook;
    this.#begin = begin;
    this.#root = create(this.#element(options));
  }

  /** Render it with other options. */
  async show(options: Hook.TurnwireOptions): Promise<void> {
    this.#root.update(this.#element(options));
    await until(() => this.#shown === options);
  }

  unmount(): void {
    this.#root.unmount();
  }

  get text(): string {
    const last = this.now.messages?.at(-1);
    return last?.role === "assistant" ? last.parts.map((part) => (part.type === "text" ? part.text : "")).join("") : "";
  }

  #element(options: Hook.TurnwireOptions) {
    return createElement(StrictMode, null, createElement(this.#App, { options }));
  }

  #App = ({ options }: { options: Hook.TurnwireOptions }): null => {
    this.#shown = options;
    this.now = this.#hook.useTurnwire({ storage: null, ...options });
    if (this.phases.at(-1) !== this.now.phase) this.phases.push(this.now.phase);
    useEffect(() => {
      const begin = this.#begin;
      this.#begin = undefined;
      begin?.(this.now);
    }, []);
    return null;
  };
}
