// The package as an app has it: packed by npm, and installed from that.
import { execFile } from "node:child_process";
import { cp, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";

import type * as Client from "../src/index.js";
import { ROOT } from "./stage.js";

const PACKAGE = fileURLToPath(new URL("../../", import.meta.url));
const run = promisify(execFile);

/** Install it into a folder of this name, beside this release of `ai`. Returns that folder, with a slash. */
export async function installed(name: string, version?: string): Promise<string> {
  const app = `${PACKAGE}build/${name}/`;
  await rm(app, { recursive: true, force: true });
  await mkdir(app, { recursive: true });
  await run("npm", ["pack", "--ignore-scripts", "--pack-destination", app], { cwd: PACKAGE });
  const [tarball = ""] = (await readdir(app)).filter((each) => each.endsWith(".tgz"));
  await writeFile(`${app}package.json`, '{"private": true, "type": "module"}');
  // Its peers are the app's.
  const quiet = ["--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--legacy-peer-deps"];
  await run("npm", ["install", ...quiet, `./${tarball}`], { cwd: app });
  if (version !== undefined) await peers(version, app);
  return app;
}

/** Copied, and without a React: a hook must have that of its renderer. */
async function peers(version: string, app: string): Promise<void> {
  const from = `${ROOT}tests/clients/${version}/node_modules/`;
  const names = (await readdir(from)).filter((name) => name !== "react" && !name.startsWith("."));
  const runs = (path: string) => !/\.(map|md|mdx|ts|mts|cts)$/.test(path);
  for (const name of names) await cp(`${from}${name}`, `${app}node_modules/${name}`, { recursive: true, filter: runs });
}

export async function client(app: string): Promise<typeof Client> {
  return (await import(pathToFileURL(`${app}node_modules/turnwire-client/dist/index.js`).href)) as typeof Client;
}
