// Plays chats in which the agent waits for its user to one released client, and reports them.
//
//   node tests/clients/approvals.mjs v7.0.173 < jobs.json > report.json
//
// A job: {name, url, headers, helper, steps}. Steps, one after another, each until the chat is quiet:
// {send: "text"}; {respond: [{approved, reason}, ...], waitMs}, one for each card that waits, in
// order; {resend: true} sends the last message again; {repeat: n} makes that POST once more, and
// {tamper: n} with its approval ids changed. {ask: "text", open: n} sends too, and stops when n
// questions (1) are open; {answer} puts an answer into each, as an app may, and sends the message;
// {reload: true} is a new chat with the user's messages alone, which resumes. `helper` is "ai" (all
// of the client's own, as apps combine them) or "app", which asks every tool of the last step,
// whoever ran it.
import { text } from "node:stream/consumers";

const LIMIT_MS = 100_000;
const QUIET_MS = 300; // an app that sends by itself does so at once
const MOST_POSTS = 6; // enough to know a loop
const LOOK_MS = 10;

for (const name of ["log", "info", "debug", "warn"]) console[name] = console.error;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const { ai, Chat } = await import(`./${process.argv[2]}/index.mjs`);

function answeredInTheApp({ messages }) {
  const { role, parts } = messages.at(-1);
  const step = parts.slice(parts.findLastIndex(({ type }) => type === "step-start") + 1);
  const states = step.filter(({ type }) => type.startsWith("tool-")).map(({ state }) => state);
  const settled = ["approval-responded", "output-available", "output-error"];
  return (
    role === "assistant" &&
    states.includes("approval-responded") &&
    states.every((state) => settled.includes(state))
  );
}

const HELPERS = {
  ai: (state) =>
    ai.lastAssistantMessageIsCompleteWithApprovalResponses?.(state) ||
    ai.lastAssistantMessageIsCompleteWithToolCalls(state),
  app: (state) => answeredInTheApp(state) || ai.lastAssistantMessageIsCompleteWithToolCalls(state),
};
const isOpen = ({ type, data }) => type === "data-question" && data.state === "open";

async function play({ name, url, headers, helper, steps }) {
  const posts = [];
  const errors = [];
  const kept = [];
  const shown = []; // the messages after each step

  async function recording(input, init) {
    if (init.method !== "POST") return fetch(input, init);
    const post = { body: JSON.parse(init.body), status: null };
    posts.push(post);
    const response = await fetch(input, init);
    post.status = response.status;
    return response;
  }

  async function again(place, change) {
    const body = change(JSON.stringify(posts[place].body));
    const json = { ...headers, "content-type": "application/json" };
    const response = await fetch(url, { method: "POST", headers: json, body });
    kept.push({ status: response.status, body: await response.text() });
  }

  const open = (messages) =>
    new Chat({
      id: name.replaceAll(/[^\w-]/g, "-"),
      messages,
      transport: new ai.DefaultChatTransport({ api: url, headers, fetch: recording }),
      onError: (error) => errors.push(error.message),
      sendAutomaticallyWhen: (state) => posts.length < MOST_POSTS && HELPERS[helper](state),
    });
  let chat = open([]);

  async function quiet() {
    let since = Date.now();
    for (let known = posts.length; Date.now() - since < QUIET_MS; known = posts.length) {
      await sleep(LOOK_MS);
      const busy = chat.status === "submitted" || chat.status === "streaming";
      if (busy || known !== posts.length) since = Date.now();
    }
  }

  async function ask(prompt, least) {
    const sent = chat.sendMessage({ text: prompt });
    const count = () => chat.messages.flatMap(({ parts }) => parts).filter(isOpen).length;
    while (count() < least) await sleep(LOOK_MS);
    await chat.stop();
    await sent;
  }

  async function answer(given) {
    const answered = (part) =>
      isOpen(part) ? { ...part, data: { ...part.data, state: "answered", answer: given } } : part;
    chat.messages = chat.messages.map((message) => ({
      ...message,
      parts: message.parts.map(answered),
    }));
    await chat.sendMessage();
  }

  async function reload() {
    chat = open(chat.messages.filter(({ role }) => role === "user"));
    await chat.resumeStream();
  }

  async function take(step) {
    if (step.waitMs) await sleep(step.waitMs);
    if (step.send) await chat.sendMessage({ text: step.send });
    else if (step.ask) await ask(step.ask, step.open ?? 1);
    else if (step.answer !== undefined) await answer(step.answer);
    else if (step.resend) await chat.sendMessage();
    else if (step.reload) await reload();
    else if (step.repeat !== undefined) await again(step.repeat, (body) => body);
    else if (step.tamper !== undefined)
      await again(step.tamper, (body) => body.replace(/("approval":\{"id":".)./g, "$1~"));
    else {
      const cards = chat.messages.flatMap(({ parts }) => parts);
      const waiting = cards.filter(({ state }) => state === "approval-requested");
      for (const [place, response] of step.respond.entries())
        await chat.addToolApprovalResponse({ id: waiting[place].approval.id, ...response });
    }
    await quiet();
    shown.push(structuredClone(chat.messages));
  }

  for (const step of steps) {
    try {
      await take(step);
    } catch (cause) {
      const statuses = posts.map(({ status }) => status);
      const seen = { step, cause: String(cause), status: chat.status, errors, statuses };
      throw new Error(`in "${name}": ${JSON.stringify(seen)}`, { cause });
    }
  }
  const { messages, status, error } = chat;
  return { name, messages, status, error: error?.message ?? null, errors, posts, again: kept, shown };
}

const unhandled = [];
process.on("unhandledRejection", (error) => unhandled.push(String(error?.stack ?? error)));
setTimeout(() => process.exit(3), LIMIT_MS).unref();
const { jobs } = JSON.parse(await text(process.stdin));
const report = { jobs: await Promise.all(jobs.map(play)), unhandled };
process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit(0));
