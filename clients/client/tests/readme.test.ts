// The examples of the README: the program prints what stands below it, the components have right types, and the first one works.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { after, before, suite, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";

import { createElement, type FunctionComponent } from "react";

import { installed } from "./packed.js";
import { newSession, ROOT, Stage, until } from "./stage.js";

interface Node {
  type: string;
  props: Record<string, (event: unknown) => void>;
  children: (Node | string)[];
}

interface Shown {
  root: { findAll(where: (node: Node) => boolean): Node[] };
  toJSON(): unknown;
  unmount(): void;
}

const PACKAGE = fileURLToPath(new URL("../../", import.meta.url));
const run = promisify(execFile);
const { create } = createRequire(import.meta.url)("react-test-renderer") as { create(element: unknown): Shown };
console.error = () => {};

suite("README", () => {
  let app: string;
  let readme: string;
  let stage: Stage;
  before(async () => {
    readme = await readFile(`${PACKAGE}README.md`, "utf8");
    app = await installed("app-readme");
    for (const [number, [, code = ""]] of [...readme.matchAll(/```tsx\n([\s\S]*?)```/g)].entries()) await writeFile(`${app}example${number}.tsx`, code);
    stage = await Stage.start();
  });
  after(() => stage.end());

  /** Compile the components, with the types of this release of `ai`. */
  async function compiled(client: string): Promise<string> {
    const out = `${app}out-${client}/`;
    await mkdir(out, { recursive: true });
    const types = (name: string) => [`${ROOT}tests/clients/${client}/node_modules/${name}/dist/index.d.ts`];
    const compilerOptions = {
      target: "ES2022",
      lib: ["ES2023", "DOM"],
      module: "NodeNext",
      jsx: "react-jsx",
      strict: true,
      skipLibCheck: true,
      types: [],
      outDir: out,
      paths: client === "own" ? {} : { ai: types("ai"), "@ai-sdk/react": types("@ai-sdk/react") },
    };
    await writeFile(`${app}tsconfig.json`, JSON.stringify({ compilerOptions, include: ["*.tsx"] }));
    await run(`${PACKAGE}node_modules/.bin/tsc`, ["-p", app]).catch((error: { stdout: string }) => assert.fail(error.stdout));
    return out;
  }

  for (const client of ["v5.0.277", "v6.0.326", "v7.0.173"]) {
    test(`components have right types with ai ${client}`, async () => {
      await compiled(client);
    });
  }

  test("the program prints what it says", async () => {
    const [, program = "", output] = /```js\n([\s\S]*?)```\n\nprints\n\n```text\n([\s\S]*?)```/.exec(readme) ?? [];
    await writeFile(`${app}example.mjs`, program);
    const env = { ...process.env, URL: stage.url, TOKEN: stage.token };
    const { stdout } = await run(process.execPath, [`${app}example.mjs`], { env });

    assert.equal(stdout, output);
  });

  test("the component shows a conversation", async () => {
    const { Conversation } = (await import(pathToFileURL(`${await compiled("own")}example0.js`).href)) as Record<string, FunctionComponent<object>>;
    const getToken = async () => stage.token;
    const shown = create(createElement(Conversation as FunctionComponent<object>, { url: stage.url, sessionId: newSession(), user: "visitor", getToken } as object));
    const one = (type: string) => shown.root.findAll((node) => node.type === type)[0];
    const shows = (text: string) => until(() => JSON.stringify(shown.toJSON()).includes(text));
    try {
      await until(() => shown.toJSON() !== null);
      await until(() => one("input") !== undefined && one("input")?.props["disabled"] === (false as unknown));
      one("input")?.props["onChange"]?.({ target: { value: "ask me: tea or coffee?" } });
      await shows("tea or coffee");
      one("form")?.props["onSubmit"]?.({ preventDefault: () => {} });
      await until(() => one("fieldset") !== undefined);
      shown.root.findAll(({ type, children }) => type === "button" && children.includes("tea"))[0]?.props["onClick"]?.({});
      await until(() => one("fieldset")?.props["disabled"] === (true as unknown));
      await shows("Send");
    } finally {
      shown.unmount();
    }
  });
});
