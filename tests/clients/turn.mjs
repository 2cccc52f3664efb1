// Plays one job with a released client's own chat, and tells what its user would have seen.
//
// A job: {name, file | text | url, headers, actions, autoSend, cut, hold, stopAfterMs, limitMs,
// messages}. `actions` are {send: "text"}, {regenerate: true} or {resume: true}, one after another;
// `stopAfterMs` counts from the first text shown.
const LIMIT_MS = 15_000;
const QUIET_MS = 300; // an app that sends by itself does so at once
const MOST_POSTS = 5; // enough to know a loop
const LOOK_MS = 10;

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export async function play({ ai, Chat }, job, api) {
  const seen = { data: [], finishes: [], errors: [], statuses: [], responses: [] };
  let posts = 0;
  let timedOut = false;

  async function countingFetch(input, init) {
    if (init?.method === "POST") posts += 1;
    const response = await fetch(input, init);
    seen.responses.push(response.status);
    return response;
  }

  const chat = new Chat({
    id: job.name.replaceAll(/[^\w-]/g, "-"),
    messages: job.messages ?? [],
    transport: new ai.DefaultChatTransport({
      api,
      headers: job.headers ?? {},
      fetch: countingFetch,
    }),
    onData: (part) => seen.data.push(structuredClone(part)),
    onFinish: ({ message, messages, ...flags }) => seen.finishes.push(flags),
    onError: (error) => seen.errors.push(error.message),
    // The cap stands here, where every version asks: 5.0.0 asks again even after a failed POST.
    sendAutomaticallyWhen: job.autoSend
      ? (state) => posts < MOST_POSTS && ai.lastAssistantMessageIsCompleteWithToolCalls(state)
      : undefined,
  });
  chat["~registerStatusCallback"](() => seen.statuses.push(chat.status));
  let stopping = job.stopAfterMs === undefined;
  chat["~registerMessagesCallback"](() => {
    const shows = ({ role, parts }) => role === "assistant" && parts.some(({ text }) => text);
    if (stopping || !chat.messages.some(shows)) return;
    stopping = true;
    setTimeout(() => chat.stop(), job.stopAfterMs);
  });

  async function act() {
    for (const action of job.actions ?? [{ send: "hello" }]) {
      if (action.resume) await chat.resumeStream();
      else if (action.regenerate) await chat.regenerate();
      else await chat.sendMessage({ text: action.send });
    }
    let quietSince = Date.now();
    for (let known = posts; Date.now() - quietSince < (job.autoSend ? QUIET_MS : 0); ) {
      await sleep(LOOK_MS);
      const busy = chat.status === "submitted" || chat.status === "streaming";
      if (busy || known !== posts) quietSince = Date.now();
      known = posts;
      if (timedOut) return;
    }
  }

  let bell;
  const limit = new Promise((resolve) => {
    bell = setTimeout(() => {
      timedOut = true;
      resolve();
    }, job.limitMs ?? LIMIT_MS);
  });
  try {
    await Promise.race([act(), limit]);
  } catch (error) {
    seen.errors.push(`thrown: ${error.message}`);
  }
  clearTimeout(bell);
  const report = {
    name: job.name,
    messages: structuredClone(chat.messages),
    status: chat.status,
    error: chat.error?.message ?? null,
    posts,
    timedOut,
    ...structuredClone(seen),
  };
  if (timedOut) await Promise.race([chat.stop(), sleep(LOOK_MS)]);
  return report;
}
