import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import type { Conversation, View } from "./conversation";
import { Icon } from "./Icon";
import type { Settings } from "./options";
import { Panel, textOf } from "./Panel";

interface Props {
  settings: Settings;
  conversation: Conversation;
  view: View;
  open: boolean;
  setOpen: (open: boolean) => void;
}

export function App({ settings, conversation, view, open, setOpen }: Props) {
  const launcher = useRef<HTMLButtonElement>(null);
  const news = useNews(view.busy, open);
  const [draft, setDraft] = useState("");
  const { refused } = view;
  useEffect(() => {
    if (refused.length === 0) return;
    setDraft((typed) => [...refused.map(textOf), typed].filter(Boolean).join("\n"));
    conversation.tookBack(refused);
  }, [conversation, refused]);
  const wasOpen = useRef(open);
  useLayoutEffect(() => {
    if (wasOpen.current && !open) launcher.current?.focus();
    wasOpen.current = open;
  }, [open]);
  return (
    <div class="root" lang="en" data-theme={settings.theme} data-position={settings.position}>
      {open ? (
        <Panel {...{ settings, conversation, view, draft, setDraft }} close={() => setOpen(false)} />
      ) : (
        <button
          ref={launcher}
          type="button"
          class="launcher main"
          aria-haspopup="dialog"
          aria-label={news ? "Open chat, new answer" : "Open chat"}
          data-news={news}
          onClick={() => setOpen(true)}
        >
          <Icon name="chat" />
        </button>
      )}
    </div>
  );
}

/** Whether an answer became whole while the panel was closed. */
function useNews(busy: boolean, open: boolean): boolean {
  const [news, setNews] = useState(false);
  const was = useRef(busy);
  useEffect(() => {
    if (open) setNews(false);
    else if (was.current && !busy) setNews(true);
    was.current = busy;
  }, [busy, open]);
  return news;
}
