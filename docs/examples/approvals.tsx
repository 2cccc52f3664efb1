// Approval cards in React, for `ai` 6 and 7 before a gateway with TURNWIRE_SIGNING_KEYS.
import { useChat } from "@ai-sdk/react";
import * as ai from "ai";
import { useEffect, useState } from "react";

// As in chat.tsx: without `hasHistory`, this browser keeps the conversation. Another session needs another `key`.
type Props = { gateway: string; session: string; token: string; hasHistory?: boolean };
type Call = ai.ToolUIPart | ai.DynamicToolUIPart;

async function earlier({ gateway, session, token, hasHistory }: Props): Promise<ai.UIMessage[]> {
  if (!hasHistory) return JSON.parse(localStorage.getItem(`chat:${session}`) ?? "[]");
  const answer = await fetch(`${gateway}/api/sessions/${session}/messages`, { headers: { authorization: `Bearer ${token}` } });
  return answer.ok ? answer.json() : [];
}

export function Chat(props: Props) {
  const [history, setHistory] = useState<ai.UIMessage[]>();
  useEffect(() => void earlier(props).then(setHistory, () => setHistory([])), []);
  return history && <Open {...props} history={history} />;
}

function Open({ gateway, session, token, hasHistory, history }: Props & { history: ai.UIMessage[] }) {
  const api = `${gateway}/api/sessions/${session}`;
  const headers = { authorization: `Bearer ${token}`, "x-turnwire-profile": "7" };
  const { messages, sendMessage, resumeStream, addToolApprovalResponse, status, error } = useChat({
    id: session,
    messages: history,
    transport: new ai.DefaultChatTransport({ api: `${api}/chat`, headers }),
    sendAutomaticallyWhen: ai.lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  // A page that is loaded again shows the turn that runs or waits, with its cards. Until then nothing is sent.
  const [looking, setLooking] = useState(true);
  useEffect(() => {
    // React's StrictMode unmounts once, and `useChat` then closes its stream: so the look begins after that.
    const soon = setTimeout(() => void resumeStream().finally(() => setLooking(false)));
    return () => clearTimeout(soon);
  }, [resumeStream]);
  const waits = messages.at(-1)?.parts.some((part) => ai.isToolUIPart(part) && part.state.startsWith("approval-"));
  // The answer that runs or waits is not stored: the gateway sends it again from its start.
  useEffect(() => {
    if (hasHistory || waits || status === "streaming" || status === "error") return;
    try {
      localStorage.setItem(`chat:${session}`, JSON.stringify(messages));
    } catch {} // a browser that stores no more breaks no chat
  }, [session, hasHistory, waits, status, messages]);
  const running = status === "submitted" || status === "streaming";
  const busy = looking || running || (waits && !error);
  return (
    <main>
      {messages.map(({ id, role, parts }) => (
        <article key={id} aria-label={role}>
          {parts.map((part, index) => {
            if (part.type === "text") return <p key={index}>{part.text}</p>;
            return ai.isToolUIPart(part) && <Card key={part.toolCallId} call={part} respond={addToolApprovalResponse} />;
          })}
        </article>
      ))}
      {error && <p role="alert">{error.message}</p>}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const text = new FormData(event.currentTarget).get("text") as string;
          if (busy || !text.trim()) return;
          void sendMessage({ text });
          event.currentTarget.reset();
        }}
      >
        <input name="text" aria-label="Message" />
        <button disabled={busy}>Send</button>
        <button type="button" disabled={!running} onClick={() => void fetch(`${api}/stop`, { method: "POST", headers })}>
          Stop
        </button>
      </form>
    </main>
  );
}

function Card({ call, respond }: { call: Call; respond: ai.ChatAddToolApproveResponseFunction }) {
  const [reason, setReason] = useState("");
  const verdict = (approved: boolean) => void respond({ id: call.approval!.id, approved, reason: reason || undefined });
  return (
    <fieldset>
      <legend>{ai.getToolName(call)}</legend>
      <pre>{JSON.stringify(call.input, null, 2)}</pre>
      {call.state === "approval-requested" && (
        <>
          <input aria-label="Reason" value={reason} onChange={(event) => setReason(event.target.value)} />
          <button onClick={() => verdict(true)}>Approve</button>
          <button onClick={() => verdict(false)}>Deny</button>
        </>
      )}
      {call.approval?.approved !== undefined && <p>{call.approval.approved ? "Approved" : "Denied"}</p>}
      {call.state === "output-available" && <output>{JSON.stringify(call.output)}</output>}
      {call.state === "output-error" && <output>{call.errorText}</output>}
    </fieldset>
  );
}
