import { useView } from "./App";
import type { Conversation } from "./conversation";
import { concernsAnswer, shownOf, type Step } from "./notice";

const WORDS: Record<Step, string> = {
  reconnect: "Reconnect",
  retry: "Try again",
  reload: "Load the page again",
};

export function NoticeBar({ conversation }: { conversation: Conversation }) {
  const view = useView(conversation);
  const notice = shownOf(view);
  if (notice === null) return null;
  const { step } = notice;
  const act = (step: Step) => {
    if (step === "reconnect") conversation.reconnect();
    else if (step === "retry") conversation.retry();
    else location.reload();
  };
  return (
    <section className="notice" aria-label="Problem" data-notice={notice.step ?? "refused"} data-hopeful={notice.isHopeful}>
      <div>
        <strong>{notice.title}</strong>
        <p>{notice.text}</p>
      </div>
      {view.recovering ? (
        <span className="spinner" aria-label="Reconnecting" role="img" />
      ) : (
        <div className="buttons">
          {step !== null && (
            <button type="button" onClick={() => act(step)}>
              {concernsAnswer(view.notice, conversation.chat.lastMessage) ? "Answer again" : WORDS[step]}
            </button>
          )}
          <button type="button" className="plain" onClick={() => conversation.dismiss()}>
            Dismiss
          </button>
        </div>
      )}
    </section>
  );
}
