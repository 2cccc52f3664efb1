// A chat that is deleted leaves nothing behind in this browser.
import { saveDraft } from "./drafts";
import { forgetMarks } from "./marks";
import { forgetMessages } from "./memory";
import { namedSession } from "./sessions";

export function forget(session: string): void {
  saveDraft(session, "");
  forgetMessages(session);
  forgetMarks(session);
  // Its address would bring it back with a reload.
  if (namedSession()?.id === session) history.replaceState(null, "", location.pathname);
}
