// docs/examples/chat.tsx: a component that shows another session, or has another token.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFile, mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";

import { createElement, type FunctionComponent } from "react";

import { answered, json, Scripted, streams } from "./scripted.js";
import { ROOT, until } from "./stage.js";

interface Node {
  props: Record<string, (event: unknown) => void>;
}

interface Root {
  root: { findByType(type: string): Node };
  toJSON(): unknown;
  update(element: unknown): void;
  unmount(): void;
}

const { create } = createRequire(import.meta.url)("react-test-renderer") as { create(element: unknown): Root };
console.error = () => {};

let gateway: Scripted;
let Chat: FunctionComponent<object>;
before(async () => {
  gateway = await Scripted.start();
  const folder = fileURLToPath(new URL("../app-example/", import.meta.url));
  await mkdir(folder, { recursive: true });
  await copyFile(`${ROOT}docs/examples/chat.tsx`, `${folder}chat.tsx`);
  const tsc = fileURLToPath(new URL("../../node_modules/.bin/tsc", import.meta.url));
  const options = ["--ignoreConfig", "--strict", "--skipLibCheck", "--jsx", "react-jsx", "--module", "nodenext", "--target", "es2022", "--types", ""];
  await promisify(execFile)(tsc, [...options, `${folder}chat.tsx`]).catch((error: { stdout: string }) => assert.fail(error.stdout));
  ({ Chat } = (await import(pathToFileURL(`${folder}chat.js`).href)) as { Chat: FunctionComponent<object> });
});
after(() => gateway.end());

test("another session is shown with its own history, and another token is sent with the next prompt", async () => {
  gateway.replies.messages = [(response, { url }) => json(response, 200, [answered("a", url.includes("/s1/") ? "The first" : "The second")])];
  gateway.replies.chat = [streams([{ type: "finish" }])];
  const element = (session: string, token: string) => createElement(Chat, { gateway: gateway.url, session, token, hasHistory: true } as object);
  const page = create(element("s1", "former"));
  const text = () => JSON.stringify(page.toJSON());
  try {
    await until(() => text().includes("The first"));
    page.update(element("s2", "former"));
    await until(() => text().includes("The second"));
    assert.ok(!text().includes("The first"));

    const length = gateway.times("messages");
    page.update(element("s2", "newest"));
    await until(() => gateway.times("messages") > length && text().includes("The second"));
    page.root.findByType("input").props["onChange"]?.({ target: { value: "hello" } });
    await until(() => text().includes("hello"));
    page.root.findByType("form").props["onSubmit"]?.({ preventDefault: () => {} });
    await until(() => gateway.times("chat") > 0);
    assert.equal(gateway.asked.findLast(({ route }) => route === "chat")?.headers.authorization, "Bearer newest");
  } finally {
    page.unmount();
    // It has no answer for a gateway that is gone.
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
});
