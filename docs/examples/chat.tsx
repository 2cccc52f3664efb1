// A chat in React, for `ai` 5, 6 and 7: it resumes, it stops, and it answers the agent's questions.
import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport, type UIMessage } from "ai";
import { useEffect, useState } from "react";

interface Props {
  gateway: string; // its origin; "" if your own server passes /api/sessions/ on to it
  session: string;
  token: string; // for a first try: what `turnwire token …` prints
  hasHistory?: boolean; // GET …/messages has the conversation. Else it is a 501, and this browser keeps it
}

interface Question {
  questionId: string;
  approvalId?: string;
  text: string;
  kind?: string;
  options?: string[];
  state: "open" | "resolved" | "expired";
  answer?: unknown;
}

// A refusal of the gateway has a JSON body, of which `error` is for people.
function reason(text: string) {
  try {
    return String(JSON.parse(text).error ?? text);
  } catch {
    return text;
  }
}

// null: it could not be loaded.
function historyOf(api: string, token: string): Promise<UIMessage[] | null> {
  return fetch(`${api}/messages`, { headers: { authorization: `Bearer ${token}` } })
    .then((answer) => (answer.ok ? answer.json() : null))
    .catch(() => null);
}

// For the next load of this page. A browser that stores nothing, or no more, breaks no chat.
const stored = {
  read(session: string): UIMessage[] {
    try {
      return JSON.parse(localStorage.getItem(`chat:${session}`) ?? "[]");
    } catch {
      return [];
    }
  },
  write(session: string, messages: UIMessage[]) {
    try {
      localStorage.setItem(`chat:${session}`, JSON.stringify(messages));
    } catch {}
  },
};

export function Chat(props: Props) {
  // Another session is another chat, which would begin with the messages of this one.
  return <Session key={`${props.gateway} ${props.session}`} {...props} />;
}

function Session({ gateway, session, token, hasHistory }: Props) {
  const api = `${gateway}/api/sessions/${session}`;
  // Without one that could not be loaded, the chat goes on.
  const [history, setHistory] = useState<UIMessage[] | null>();
  useEffect(() => {
    void (hasHistory ? historyOf(api, token) : Promise.resolve(stored.read(session))).then(setHistory);
  }, [api, session, token, hasHistory]);
  if (history === undefined) return null;
  return (
    <>
      {history === null && <p role="alert">The earlier messages could not be loaded.</p>}
      <Open api={api} session={session} token={token} hasHistory={hasHistory} history={history ?? []} />
    </>
  );
}

function Open({ api, session, token, hasHistory, history }: Omit<Props, "gateway"> & { api: string; history: UIMessage[] }) {
  const headers = { authorization: `Bearer ${token}` };
  const { messages, setMessages, sendMessage, resumeStream, status, error } = useChat({
    id: session,
    messages: history,
    transport: new DefaultChatTransport({ api: `${api}/chat`, headers }),
  });
  const [text, setText] = useState("");
  const [refusal, setRefusal] = useState("");
  // A page that is loaded again shows the turn that runs. Until it is known whether one does, nothing is sent.
  const [looking, setLooking] = useState(true);
  useEffect(() => {
    const look = async () => {
      await resumeStream();
      // A turn that ended after the history was loaded, and before this, is in the history by now.
      const newest = hasHistory && history.at(-1)?.role === "user" && (await historyOf(api, token));
      const isNewer = (shown: UIMessage[]) =>
        newest && (shown.length === history.length || newest.some((message) => message.id === shown.at(-1)?.id));
      if (newest) setMessages((shown) => (isNewer(shown) ? newest : shown));
    };
    // React's StrictMode unmounts once, and `useChat` then closes its stream: so the look begins after that.
    const soon = setTimeout(() => void look().finally(() => setLooking(false)));
    return () => clearTimeout(soon);
  }, [resumeStream]);
  // The answer of a turn that runs, or whose stream broke, comes from the gateway: older releases would show it twice.
  useEffect(() => {
    if (!hasHistory && (status === "submitted" || status === "ready")) stored.write(session, messages);
  }, [session, hasHistory, status, messages]);
  // A turn whose stream broke may go on, and its answer may be whole by now.
  const lookAgain = async () => {
    setLooking(true);
    const newest = await historyOf(api, token);
    if (newest) {
      setMessages(newest);
      await resumeStream();
    }
    setLooking(false);
  };
  const running = status === "submitted" || status === "streaming";
  const post = (route: string, body: object) =>
    void fetch(`${api}/${route}`, { method: "POST", headers: { ...headers, "content-type": "application/json" }, body: JSON.stringify(body) })
      .then(async (answer) => [answer.ok, (await answer.text()) || `${answer.status}`] as const)
      .catch((failure: Error) => [false, failure.message] as const)
      .then(([ok, text]) => setRefusal(ok ? "" : reason(text)));
  const problem = refusal || (error && reason(error.message));

  return (
    <main>
      {messages.map((message) => (
        <article key={message.id} aria-label={message.role}>
          {message.parts.map((part, index) => {
            if (part.type === "text") return <p key={index}>{part.text}</p>;
            if ("toolCallId" in part) return <pre key={index}>{JSON.stringify(part, null, 2)}</pre>;
            if (part.type !== "data-question" || !("data" in part)) return null;
            const { questionId, approvalId, text, kind, options, state, answer: given } = part.data as Question;
            const approval = kind === "approval" ? { approve: true, deny: false } : {};
            const answers = options ? options.map((each) => [each, each] as const) : Object.entries(approval);
            const chosen = (given as { approved?: boolean } | null)?.approved ?? given; // a native approval may have a reason
            const verdict = chosen === true ? "approve" : chosen === false ? "deny" : String(chosen ?? "answered");
            if (state !== "open") {
              return (
                <fieldset key={index}>
                  <legend>{text}</legend>
                  <output>{state === "expired" ? "expired" : verdict}</output>
                </fieldset>
              );
            }
            return (
              <fieldset key={index}>
                <legend>{text}</legend>
                {answers.map(([label, answer]) => (
                  <button key={label} onClick={() => post("answer", { questionId, answer, approvalId })}>
                    {label}
                  </button>
                ))}
                {answers.length === 0 && (
                  <form
                    onSubmit={(event) => {
                      event.preventDefault();
                      post("answer", { questionId, answer: new FormData(event.currentTarget).get("answer"), approvalId });
                    }}
                  >
                    <input name="answer" aria-label="Answer" required />
                    <button>Answer</button>
                  </form>
                )}
              </fieldset>
            );
          })}
        </article>
      ))}
      {problem && <p role="alert">{problem}</p>}
      {error && hasHistory && (
        <button disabled={looking} onClick={lookAgain}>
          Look again
        </button>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (looking || running || !text.trim()) return;
          setRefusal("");
          void sendMessage({ text });
          setText("");
        }}
      >
        <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
        <button disabled={looking || running}>Send</button>
        {/* The gateway's route ends the turn. `stop()` of useChat closes the connection alone. */}
        <button type="button" disabled={!running} onClick={() => post("stop", {})}>
          Stop
        </button>
      </form>
    </main>
  );
}
