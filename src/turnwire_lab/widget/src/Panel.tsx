import type { UIMessage } from "ai";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Notice, type Step, wordsOf } from "turnwire-session";

import type { Conversation, View } from "./conversation";
import { toLog, trap } from "./focus";
import { Icon } from "./Icon";
import type { Settings } from "./options";
import { Message } from "./parts";
import { runs } from "./Tool";

interface Props {
  settings: Settings;
  conversation: Conversation;
  view: View;
  /** What is typed and not sent; it outlives a closed panel. */
  draft: string;
  setDraft: (draft: string) => void;
  close: () => void;
}

const NEAR_END_PX = 60;

export function Panel(props: Props) {
  const { settings, conversation, view, close } = props;
  return (
    <section
      class="panel"
      role="dialog"
      aria-modal="true"
      aria-labelledby="title"
      onKeyDown={(event) => {
        if (event.key === "Tab") trap(event);
        if (event.key !== "Escape" || event.isComposing) return;
        event.stopPropagation();
        close();
      }}
    >
      <div class="head">
        <h2 id="title">{settings.title}</h2>
        <button type="button" class="quiet" aria-label="Close chat" onClick={close}>
          <Icon name="close" />
        </button>
      </div>
      <Said settings={settings} conversation={conversation} view={view} />
      <Problem notice={view.notice} waiting={view.loading} take={(step) => conversation.take(step)} />
      <Composer {...props} />
      <Live view={view} />
    </section>
  );
}

function Said({ settings, conversation, view }: Pick<Props, "settings" | "conversation" | "view">) {
  const log = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const follow = () => {
    if (follows.current && log.current !== null) log.current.scrollTop = log.current.scrollHeight;
  };
  useLayoutEffect(follow);
  // Where the notice offers it already, once is enough.
  const again = !view.busy && !view.loading && view.notice?.step !== "retry";
  return (
    <div
      class="log"
      ref={log}
      tabIndex={0}
      role="region"
      aria-label="Conversation"
      aria-busy={view.loading}
      onScroll={({ currentTarget: box }) => {
        follows.current = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_END_PX;
      }}
      onLoad={follow}
    >
      {view.messages.length === 0 && (
        <p class="welcome">{view.loading && view.notice === null ? "Loading…" : settings.welcome}</p>
      )}
      {view.messages.length === 0 && !view.loading && settings.suggestions.length > 0 && (
        <ul class="suggestions" aria-label="Suggestions">
          {settings.suggestions.map((each) => (
            <li key={each}>
              <button
                type="button"
                onClick={(event) => {
                  if (!conversation.idle) return;
                  // The button goes, and the keyboard must not go with it.
                  toLog(event);
                  conversation.send(each);
                }}
              >
                {each}
              </button>
            </li>
          ))}
        </ul>
      )}
      {view.messages.map((message, at) => (
        <Message key={message.id} {...{ message, conversation }} again={again && at === view.messages.length - 1} />
      ))}
      {view.busy && <p class="working">{statusWords(view)}</p>}
    </div>
  );
}

const STATUS: Record<string, string> = { queued: "Waiting for another turn", tool_calling: "Using a tool", streaming: "Writing" };

function statusWords(view: View): string {
  if (!view.stopping && asks(view)) return "Waiting for your answer";
  return `${view.stopping ? "Stopping" : (STATUS[inferred(view) || view.agent] ?? "Thinking")}…`;
}

/** What the agent does, where it said so before this page was there. */
function inferred(view: View): string {
  const last = view.messages.at(-1)?.parts.at(-1);
  if (runs(last)) return "tool_calling";
  return last?.type === "text" && last.state === "streaming" ? "streaming" : "";
}

const LABELS: Record<Step, string> = { reconnect: "Reconnect", retry: "Try again" };

interface ProblemProps {
  notice: Notice | null;
  waiting: boolean;
  take: (step: Step) => void;
}

function Problem({ notice, waiting, take }: ProblemProps) {
  return <div role="alert">{notice !== null && <Told {...{ notice, waiting, take }} />}</div>;
}

function Told({ notice, waiting, take }: ProblemProps & { notice: Notice }) {
  const [title, text] = wordsOf(notice);
  const { step } = notice;
  // Where nothing is known yet, a user need not wait for the next try.
  const first = notice.automatic && notice.turn === "none";
  return (
    <div class="notice">
      <p>
        <strong>{title}.</strong> {text}
      </p>
      {step !== null && (!waiting || first) && (
        <button
          type="button"
          onClick={(event) => {
            toLog(event);
            take(step);
          }}
        >
          {first ? "Retry" : LABELS[step]}
        </button>
      )}
    </div>
  );
}

function Composer({ settings, conversation, view, draft, setDraft }: Props) {
  const box = useRef<HTMLTextAreaElement>(null);
  // At once, so that no key is lost.
  useLayoutEffect(() => box.current?.focus(), []);
  const wanted = useRef(false);
  const send = () => {
    // What stands in the box, which is drawn later than it is typed.
    const typed = box.current?.value.trim();
    // Whoever is faster than the history is heard once it is there.
    wanted.current = Boolean(typed) && conversation.loading;
    if (!typed || !conversation.idle) return;
    conversation.send(typed);
    setDraft("");
    box.current?.focus();
  };
  useEffect(() => {
    if (!wanted.current || conversation.loading) return;
    wanted.current = false;
    if (view.notice === null) send();
  });
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        ref={box}
        rows={1}
        aria-label="Message"
        placeholder={settings.placeholder}
        value={draft}
        onInput={(event) => setDraft(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      {view.busy ? (
        <button
          type="button"
          class="main"
          aria-label="Stop"
          disabled={view.stopping}
          onClick={() => {
            conversation.stop();
            box.current?.focus();
          }}
        >
          <Icon name="stop" />
        </button>
      ) : (
        <button type="submit" class="main" aria-label="Send" disabled={view.loading || !draft.trim()}>
          <Icon name="send" />
        </button>
      )}
    </form>
  );
}

/** What a screen reader is told: not every word as it comes, but what an answer was when it is whole. */
function Live({ view }: { view: View }) {
  const [told, setTold] = useState("");
  const was = useRef(view.busy);
  const last = view.messages.at(-1);
  useEffect(() => {
    if (was.current === view.busy) return;
    was.current = view.busy;
    if (view.busy) setTold("The agent is working.");
    else if (last?.role === "assistant") setTold(`Answer: ${textOf(last)}`);
  }, [view.busy, last]);
  return (
    <p class="unseen" aria-live="polite">
      {asks(view) ? "The agent asks you something." : told}
    </p>
  );
}

function asks(view: View): boolean {
  const parts = view.messages.at(-1)?.parts ?? [];
  return parts.some((part) => part.type === "data-question" && (part.data as { state: string }).state === "open");
}

export function textOf(message: UIMessage): string {
  return message.parts.map((part) => (part.type === "text" ? part.text : "")).join(" ");
}
