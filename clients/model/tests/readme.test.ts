// The README's example prints what stands below it.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { Stage, SUNNY } from "./stage.js";

const PACKAGE = new URL("../../", import.meta.url);
const SHOWN = /```js\n([\s\S]*?)```\n\nprints\n\n```text\n([\s\S]*?)```/g;

test("each example of the README prints what it says", async () => {
  const readme = await readFile(new URL("README.md", PACKAGE), "utf8");
  const examples = [...readme.matchAll(SHOWN)];
  assert.equal(examples.length, readme.split("```js\n").length - 1);
  const stage = await Stage.start();
  try {
    for (const [, program = "", output] of examples) {
      await stage.answers({ body: SUNNY });
      const file = fileURLToPath(new URL("build/example.mjs", PACKAGE));
      await writeFile(file, program);
      const env = { ...process.env, URL: stage.url, TOKEN: stage.token };
      const { stdout } = await promisify(execFile)(process.execPath, [file], { env });
      assert.equal(stdout, output);
    }
  } finally {
    await stage.end();
  }
});
