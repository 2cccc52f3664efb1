// Plays streams to the runtime of assistant-ui on a page without a browser, and reports its threads.
//
//   node tests/clients/assistant.mjs < jobs.json > report.json
//
// In: {"limitMs": 60000, "jobs": [...]}. A job: {name, file | text | url, headers, prompts}, see turn.mjs;
// `prompts` are sent one after another. Out: {client, unhandled, jobs: [{name, messages, errors, posts,
// timedOut}]}, with the messages of the runtime's thread.
import { text } from "node:stream/consumers";

import * as client from "./assistant-ui-0.15.22/index.mjs";
import { serve } from "./serve.mjs";
import { versions } from "./versions.mjs";

const AT_ONCE = 8;
const LIMIT_MS = 60_000;
const LOOK_MS = 2;
const QUIET_LOOKS = 20; // the page and the chat share a thread: by then React has shown what the chat has

const { AssistantChatTransport, AssistantRuntimeProvider, createElement, createRoot, useChatRuntime } =
  client;
const home = new URL("assistant-ui-0.15.22/", import.meta.url);
const report = { client: versions(home, client.found), unhandled: [], jobs: [] };
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
// Standard output is the report's alone; clients do print.
for (const name of ["log", "info", "debug", "warn"]) console[name] = console.error;
process.on("unhandledRejection", (error) => report.unhandled.push(String(error?.stack ?? error)));
process.on("uncaughtException", (error) => report.unhandled.push(String(error?.stack ?? error)));

async function play({ name, headers = {}, prompts = ["hello"] }, api) {
  const errors = [];
  let posts = 0;
  let finishes = 0;
  let runtime;

  function counting(input, init) {
    if (init?.method === "POST") posts += 1;
    return fetch(input, init);
  }

  const transport = new AssistantChatTransport({ api, headers, fetch: counting });

  function App() {
    runtime = useChatRuntime({
      transport,
      onError: (error) => errors.push(error.message),
      onFinish: () => (finishes += 1),
    });
    return createElement(AssistantRuntimeProvider, { runtime });
  }

  const until = async (isTrue) => {
    while (!isTrue()) await sleep(LOOK_MS);
  };

  const root = createRoot(document.createElement("div"));
  root.render(createElement(App));
  let timedOut = true;
  const state = () => runtime.thread.getState();

  async function converse() {
    await until(() => runtime && !state().isLoading && !state().isDisabled);
    for (const prompt of prompts) {
      const before = finishes;
      runtime.thread.append(prompt);
      await until(() => finishes > before && !state().isRunning);
      let shown = state();
      for (let looks = 0; looks < QUIET_LOOKS; looks += 1) {
        await sleep(LOOK_MS);
        if (state() !== shown) looks = 0;
        shown = state();
      }
    }
    timedOut = false;
  }

  await Promise.race([converse(), sleep(LIMIT_MS)]);
  const messages = JSON.parse(JSON.stringify(state().messages));
  root.unmount();
  return { name, messages, errors, posts, timedOut };
}

const { jobs, limitMs = LIMIT_MS } = JSON.parse(await text(process.stdin));
setTimeout(() => process.exit(3), limitMs);
const server = await serve();
const waiting = [...jobs.entries()];
async function worker() {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const [place, job] = next;
    report.jobs[place] = await play(job, job.url ?? server.add(job));
  }
}
await Promise.all(Array.from({ length: AT_ONCE }, worker));
process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit(0));
