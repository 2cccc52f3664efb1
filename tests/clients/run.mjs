// Plays streams to one released AI SDK client and reports what it made of them.
//
//   node tests/clients/run.mjs v7.0.173 < jobs.json > report.json
//
// In: {"limitMs": 60000, "atOnce": 8, "jobs": [...]}, see turn.mjs. Out: {client, unhandled, late,
// jobs: [...]}, reports in the order of the jobs. Ends by itself: at the limit it tells what it has,
// exit 1.
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

import { CLIENTS } from "./clients.mjs";
import { serve } from "./serve.mjs";
import { play } from "./turn.mjs";

const AT_ONCE = 8;
const STDIN_LIMIT_MS = 10_000;
const LIMIT_MS = 60_000;

const client = process.argv[2];
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

/** The versions that really run, by name; refuses a package that came from elsewhere. */
function versions(found) {
  const folder = new URL(`./${client}/node_modules/`, import.meta.url).href;
  const packages = found.map((url) => {
    if (!url.startsWith(folder)) throw new Error(`${client} resolved ${url}, outside its folder`);
    const [first, second] = url.slice(folder.length).split("/");
    const name = first.startsWith("@") ? `${first}/${second}` : first;
    const about = JSON.parse(readFileSync(fileURLToPath(`${folder}${name}/package.json`), "utf8"));
    return [about.name, about.version];
  });
  return Object.fromEntries([...packages, ["node", process.versions.node]]);
}

async function main() {
  if (!CLIENTS.includes(client)) throw new Error(`no client ${client}; there are ${CLIENTS}`);
  const patience = setTimeout(() => giveUp("no jobs on standard input"), STDIN_LIMIT_MS);
  const { jobs, limitMs = LIMIT_MS, atOnce = AT_ONCE } = JSON.parse(await text(process.stdin));
  clearTimeout(patience);
  setTimeout(() => giveUp(`not done after ${limitMs} ms`), limitMs);

  const { found, ...sdk } = await import(`./${client}/index.mjs`);
  report.client = versions(found);
  if (`v${report.client.ai}` !== client) throw new Error(`${client} runs ai ${report.client.ai}`);
  // One `ai` serves both packages, or the chat would be of another version than its transport.
  if (!(sdk.Chat.prototype instanceof sdk.ai.AbstractChat)) throw new Error("two copies of ai");

  const server = await serve();
  const waiting = jobs.map((job, place) => ({ job, place }));
  async function worker() {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { job, place } = next;
      report.jobs[place] = await play(sdk, job, job.url ?? server.add(job));
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
