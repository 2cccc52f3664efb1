// Plays one job with a released client's own chat, and tells what its user would have seen.
//
// A job: {name, file | text | url, headers, actions, autoSend, cut, hold, stopAfterMs, limitMs,
// messages, framework}. `framework` is "own", or "none" for the SDK's chat alone; `expo` is the SDK of Expo whose
// fetch is used. `actions` are {send: "text"}, {regenerate: true}, {resume: true}, {reload: true}, {drop: true} or
// {check: true}, one after another; `stopAfterMs` counts from the first text shown. `reload` is a new
// chat with the history, `drop` takes the last message away, `check` asks the client whether it holds
// what a model can be told. `waitMs` is how long the user waits before an action. What else an action may have is
// explained in `reading.mjs`; `answer` is what every question is answered with that is open meanwhile.
import { ofExpo } from "./expo.mjs";
import { asRead, call } from "./reading.mjs";

const LIMIT_MS = 15_000;
const QUIET_MS = 300; // an app that sends by itself does so at once
const MOST_POSTS = 5; // enough to know a loop
const LOOK_MS = 10;

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export async function play(ai, openers, job, api) {
  const seen = { data: [], finishes: [], errors: [], statuses: [], responses: [] };
  const kept = { earlier: [], receipts: [], checked: [] };
  const asked = new Set();
  let action = {};
  let posts = 0;
  let timedOut = false;

  async function countingFetch(input, init) {
    if (init?.method === "POST") posts += 1;
    const response = await fetch(input, init);
    seen.responses.push(response.status);
    return asRead(response, action, async (turnId) =>
      kept.receipts.push(await call(api, "stop", job, { turnId })),
    );
  }

  function open(messages) {
    const { chat, view, watch } = openers[job.framework ?? "own"]({
      id: job.name.replaceAll(/[^\w-]/g, "-"),
      messages,
      transport: new ai.DefaultChatTransport({
        api,
        headers: job.headers ?? {},
        fetch: job.expo ? ofExpo(countingFetch, job.expo) : countingFetch,
      }),
      onData: (part) => seen.data.push(structuredClone(part)),
      onFinish: ({ message, messages, ...flags }) => seen.finishes.push(flags),
      onError: (error) => seen.errors.push(error.message),
      // The cap stands here, where every version asks: 5.0.0 asks again even after a failed POST.
      sendAutomaticallyWhen: job.autoSend
        ? (state) => posts < MOST_POSTS && ai.lastAssistantMessageIsCompleteWithToolCalls(state)
        : undefined,
    });
    function messagesChanged() {
      answer(chat);
      const shows = ({ role, parts }) => role === "assistant" && parts.some(({ text }) => text);
      if (stopping || !chat.messages.some(shows)) return;
      stopping = true;
      setTimeout(() => chat.stop(), job.stopAfterMs);
    }
    watch(() => seen.statuses.push(chat.status), messagesChanged);
    return { chat, view };
  }

  function answer({ messages }) {
    if (action.answer === undefined) return;
    for (const { type, id, data } of messages.flatMap(({ parts }) => parts)) {
      if (type !== "data-question" || data.state !== "open" || asked.has(id)) continue;
      asked.add(id);
      call(api, "answer", job, { questionId: id, answer: action.answer, approvalId: data.approvalId }).catch((error) =>
        seen.errors.push(`answer: ${error.message}`),
      );
    }
  }

  let stopping = job.stopAfterMs === undefined;
  let { chat, view } = open(job.messages ?? []);

  async function act() {
    for (action of job.actions ?? [{ send: "hello" }]) {
      if (action.waitMs) await sleep(action.waitMs);
      if (action.reload) {
        kept.earlier.push(view().messages);
        ({ chat, view } = open(await call(api, `messages${action.query ?? ""}`, job)));
      } else if (action.drop) {
        chat.messages = chat.messages.slice(0, -1);
      } else if (action.resume) {
        await chat.resumeStream();
        // The turn ended between the two requests: then its answer is in the history.
        const missed = seen.responses.at(-1) === 204 && chat.messages.at(-1)?.role === "user";
        if (missed) chat.messages = await call(api, "messages", job);
      } else if (action.check) {
        await ai.validateUIMessages?.({ messages: chat.messages });
        kept.checked.push((await ai.convertToModelMessages(chat.messages)).map(({ role }) => role));
      } else if (action.regenerate) await chat.regenerate();
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
    ...view(),
    posts,
    timedOut,
    ...structuredClone({ ...seen, ...kept }),
  };
  if (timedOut) await Promise.race([chat.stop(), sleep(LOOK_MS)]);
  return report;
}
