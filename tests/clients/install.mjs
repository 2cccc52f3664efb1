// Installs every client from its lock file; does nothing for those that are up to date.
//
//   node tests/clients/install.mjs           install what is missing
//   node tests/clients/install.mjs --lock    write the lock files again, after a package.json changed
//
// The stamp holds the hash of the lock and of the Node major, and is written last: an install
// that was cut short is done again, and never half used.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { CLIENTS, FRAMEWORKS, HERE, RUNTIMES, TRANSPORTS } from "./clients.mjs";

const LIMIT_MS = 300_000;
const AT_ONCE = 3; // npm's cache is shared; more in parallel only wait for each other
const QUIET = ["--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"];
const INSTALL = ["ci", "--ignore-scripts", "--prefer-offline", ...QUIET];
// Without this option a lock names the registry of whoever wrote it.
const LOCK = ["install", "--package-lock-only", "--omit-lockfile-registry-resolved", ...QUIET];

function npm(client, args) {
  const started = Date.now();
  return new Promise((resolve, reject) => {
    const child = spawn("npm", args, {
      cwd: join(HERE, client),
      stdio: ["ignore", "pipe", "pipe"],
      timeout: LIMIT_MS,
    });
    let said = "";
    child.stdout.on("data", (data) => (said += data));
    child.stderr.on("data", (data) => (said += data));
    child.on("error", reject);
    child.on("close", (code) => {
      if (code !== 0) reject(new Error(`npm ${args[0]} in ${client}: exit ${code}\n${said}`));
      else resolve(`${client}: ${((Date.now() - started) / 1000).toFixed(1)} s`);
    });
  });
}

function wanted(client) {
  return createHash("sha256")
    .update(readFileSync(join(HERE, client, "package-lock.json")))
    .update(process.versions.node.split(".")[0])
    .digest("hex");
}

async function install(client) {
  const stamp = join(HERE, client, "node_modules", ".stamp");
  let have = "";
  try {
    have = readFileSync(stamp, "utf8");
  } catch {
    // Never installed, or not to its end.
  }
  if (have === wanted(client)) return `${client}: up to date`;
  rmSync(stamp, { force: true });
  const said = await npm(client, INSTALL);
  writeFileSync(stamp, wanted(client));
  return said;
}

const act = process.argv.includes("--lock") ? (client) => npm(client, LOCK) : install;
const queue = [...CLIENTS, ...TRANSPORTS, ...FRAMEWORKS, ...RUNTIMES];
async function worker() {
  for (let client = queue.shift(); client; client = queue.shift()) {
    try {
      console.log(await act(client));
    } catch (error) {
      console.error(String(error.message ?? error));
      process.exitCode = 1;
    }
  }
}
await Promise.all(Array.from({ length: AT_ONCE }, worker));
