// A chat of `useChat` made of AI Elements, as their guide puts one together, and a reader of what it shows.
//
// `play(jobs)` opens one chat for each {name, api}, sends a prompt, waits until the turn is over, and gives what is
// on the page then: {name, status, posts, answers, error, parts}. `answers` counts the assistant's messages, `error`
// is the text of the alert or null, and `parts` are those of the last answer, in their order: {kind: "text" |
// "reasoning", text}, {kind: "tool", name, label, blocks: {title: text}} or {kind: "link", text, url}.
import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport, getToolName, isToolUIPart } from "ai";
import { startTransition, useEffect, useRef, useState } from "react";
import { createRoot } from "react-dom/client";

import { Conversation, ConversationContent } from "@/components/ai-elements/conversation";
import { Message, MessageContent, MessageResponse } from "@/components/ai-elements/message";
import { Reasoning, ReasoningContent, ReasoningTrigger } from "@/components/ai-elements/reasoning";
import { Tool, ToolContent, ToolHeader, ToolInput, ToolOutput } from "@/components/ai-elements/tool";

const AT_ONCE = 6; // a browser opens no more connections to one host
const LIMIT_MS = 60_000;
const IDLE_MS = 2_000; // a busy page is seldom idle, and looked at again then

function Part({ part, streaming }) {
  if (part.type === "text") return <MessageResponse isAnimating={streaming}>{part.text}</MessageResponse>;
  if (part.type === "reasoning")
    return (
      <Reasoning isStreaming={part.state === "streaming"} open>
        <ReasoningTrigger />
        <ReasoningContent>{part.text}</ReasoningContent>
      </Reasoning>
    );
  // No package has their `Sources` and `Attachments`: these two are links of our own.
  if (part.type === "source-url") return <a href={part.url}>{part.title ?? part.url}</a>;
  if (part.type === "file") return <a href={part.url}>{part.filename ?? part.mediaType}</a>;
  if (!isToolUIPart(part)) return null;
  const { type, state, toolName } = part;
  return (
    <Tool defaultOpen>
      <ToolHeader state={state} title={getToolName(part)} toolName={toolName} type={type} />
      <ToolContent>
        {/* Their block of code throws for an input that has not begun to come. */}
        {part.input !== undefined && <ToolInput input={part.input} />}
        <ToolOutput errorText={part.errorText} output={part.output} />
      </ToolContent>
    </Tool>
  );
}

function kind(part) {
  if (part.type === "text" || part.type === "reasoning") return part.type;
  if (part.type === "source-url" || part.type === "file") return "link";
  return isToolUIPart(part) ? "tool" : undefined;
}

function Chat({ job, onShown }) {
  const posts = useRef(0);
  const sent = useRef(false);
  const [over, setOver] = useState(false);
  const [settled, setSettled] = useState(false);
  const transport = useRef(
    new DefaultChatTransport({
      api: job.api,
      fetch(input, init) {
        posts.current += 1;
        return fetch(input, init);
      },
    }),
  );
  const { messages, status, error, sendMessage } = useChat({ id: job.name, transport: transport.current });
  useEffect(() => {
    if (sent.current) return;
    sent.current = true;
    sendMessage({ text: "hello" }).then(() => setOver(true));
  }, [sendMessage]);
  // What the chat holds is rendered with or before `over`. The text is rendered in a transition that begins then at
  // the latest, and React shows no transition before one that began earlier.
  useEffect(() => {
    if (over) startTransition(() => setSettled(true));
  }, [over]);
  useEffect(() => {
    if (settled) onShown(posts.current);
  }, [settled, onShown]);
  return (
    <section data-status={status}>
      <Conversation>
        <ConversationContent>
          {messages.map((message) => (
            <Message data-role={message.role} from={message.role} key={message.id}>
              <MessageContent>
                {message.parts.map((part, index) => (
                  <div data-kind={kind(part)} key={`${message.id}-${index}`}>
                    <Part part={part} streaming={status === "streaming"} />
                  </div>
                ))}
              </MessageContent>
            </Message>
          ))}
        </ConversationContent>
      </Conversation>
      {error && <p role="alert">{error.message}</p>}
    </section>
  );
}

/** Give the text of rendered Markdown: a browser draws the number of a list, which no node holds. */
function prose(node) {
  const copy = node.cloneNode(true);
  for (const list of copy.querySelectorAll("ol"))
    [...list.children].forEach((item, place) => item.prepend(`${list.start + place}. `));
  return copy.textContent;
}

/** Give the text of a block of code, whose lines are elements without line ends. */
function code(node) {
  return [...node.children].map(({ textContent }) => textContent.replace(/^\n$/, "")).join("\n");
}

function shown(element) {
  const { kind } = element.dataset;
  if (kind === "text") return { kind, text: prose(element) };
  if (kind === "link") {
    const link = element.querySelector("a");
    return { kind, text: link.textContent, url: link.getAttribute("href") };
  }
  if (kind === "reasoning")
    return { kind, text: prose(element.querySelector("[data-slot=collapsible-content]")) };
  const header = element.querySelector("[data-slot=collapsible-trigger]");
  const blocks = [...element.querySelectorAll("h4")].map((title) => {
    const block = title.nextElementSibling.querySelector("pre code");
    return [title.textContent, block ? code(block) : title.nextElementSibling.textContent];
  });
  const label = header.querySelector("[data-slot=badge]").textContent;
  const name = header.querySelector("span").textContent;
  return { kind, name, label, blocks: Object.fromEntries(blocks) };
}

/** Wait until React has nothing left to render: it works in tasks, and the browser is not idle before they ran. */
async function still(place) {
  const idle = () => new Promise((resolve) => requestIdleCallback(resolve, { timeout: IDLE_MS }));
  for (let before; before !== place.innerHTML; await idle()) {
    before = place.innerHTML;
    await idle();
  }
}

async function play(job) {
  const place = document.createElement("div");
  document.getElementById("root").append(place);
  const root = createRoot(place);
  let bell;
  const posts = await new Promise((resolve) => {
    bell = setTimeout(resolve, LIMIT_MS, -1);
    root.render(<Chat job={job} onShown={resolve} />);
  });
  clearTimeout(bell);
  await still(place);
  const answers = [...place.querySelectorAll("[data-role=assistant]")];
  const parts = answers.at(-1)?.querySelectorAll("[data-kind]") ?? [];
  const seen = {
    name: job.name,
    status: place.querySelector("section")?.dataset.status ?? "",
    posts,
    answers: answers.length,
    error: place.querySelector("[role=alert]")?.textContent ?? null,
    parts: [...parts].map(shown),
  };
  root.unmount();
  place.remove();
  return seen;
}

window.play = async (jobs) => {
  const seen = [];
  const waiting = [...jobs.entries()];
  async function worker() {
    for (let next = waiting.shift(); next; next = waiting.shift()) seen[next[0]] = await play(next[1]);
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return seen;
};
