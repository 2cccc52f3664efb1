// Plays streams to one released AI SDK client and reports what it made of them.
//
//   node tests/clients/run.mjs v7.0.173 < jobs.json > report.json
//
// A client is a folder beside this file, or the path of one elsewhere.
//
// In: {"limitMs": 60000, "atOnce": 8, "jobs": [...]}, see turn.mjs. Out: {client, unhandled, late,
// jobs: [...]}, reports in the order of the jobs. Ends by itself: at the limit it tells what it has,
// exit 1.
import { existsSync } from "node:fs";
import { text } from "node:stream/consumers";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { CLIENTS, FRAMEWORKS, HERE } from "./clients.mjs";
import { ofNone, ofReact } from "./openers.mjs";
import { serve } from "./serve.mjs";
import { play } from "./turn.mjs";
import { versions } from "./versions.mjs";

const AT_ONCE = 8;
const STDIN_LIMIT_MS = 10_000;
const LIMIT_MS = 60_000;

const client = process.argv[2];
const home = pathToFileURL(`${resolve(HERE, client)}/`);
const report = { client: {}, unhandled: [], late: false, jobs: [] };
// Standard output is the report's alone; clients do print.
for (const name of ["log", "info", "debug", "warn"]) console[name] = console.error;
process.on("unhandledRejection", (error) => report.unhandled.push(String(error?.stack ?? error)));
process.on("uncaughtException", (error) => report.unhandled.push(String(error?.stack ?? error)));

function leave(code) {
  process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit(code));
}

function giveUp(why) {
  report.late = true;
  console.error(why);
  leave(1);
}

async function main() {
  const known = [...CLIENTS, ...FRAMEWORKS];
  if (!existsSync(new URL("index.mjs", home))) throw new Error(`no client ${client}; there are ${known}`);
  const patience = setTimeout(() => giveUp("no jobs on standard input"), STDIN_LIMIT_MS);
  const { jobs, limitMs = LIMIT_MS, atOnce = AT_ONCE } = JSON.parse(await text(process.stdin));
  clearTimeout(patience);
  setTimeout(() => giveUp(`not done after ${limitMs} ms`), limitMs);

  const { found, ...sdk } = await import(new URL("index.mjs", home));
  report.client = versions(home, found);
  // A folder is named after the package whose release it pins.
  const [, name, release] = /^(.*?)-?v?(\d+\.\d+\.\d+)$/.exec(basename(client));
  const runs = report.client[name ? `@ai-sdk/${name}` : "ai"];
  if (runs !== release) throw new Error(`${client} runs ${runs}`);
  // One `ai` serves both packages, or the chat would be of another version than its transport.
  if (!(sdk.Chat.prototype instanceof sdk.ai.AbstractChat)) throw new Error("two copies of ai");

  const open = sdk.open ?? ofReact(sdk.Chat);
  const openers = { own: open, none: ofNone(sdk.ai) };
  const server = await serve();
  const waiting = jobs.map((job, place) => ({ job, place }));
  async function worker() {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { job, place } = next;
      report.jobs[place] = await play(sdk.ai, openers, job, job.url ?? server.add(job));
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker));
  // Rejections nobody handled are told one turn of the loop later.
  await new Promise((resolve) => setTimeout(resolve, 20));
  leave(0);
}

main().catch((error) => {
  console.error(error);
  process.exit(2);
});
