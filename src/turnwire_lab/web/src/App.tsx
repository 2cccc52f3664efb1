import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { followNetwork, followUser } from "turnwire-session";

import { ChatPane } from "./ChatPane";
import { Conversation, POLL_MS } from "./conversation";
import { focusBox } from "./focus";
import { forget } from "./forget";
import { Header } from "./Header";
import type { Setup } from "./lab";
import {
  loadCurrent,
  loadSessions,
  newSession,
  saveCurrent,
  saveSessions,
  UNTITLED,
  type SessionEntry,
} from "./sessions";
import { Sidebar } from "./Sidebar";
import { listen } from "./tabs";
import { WirePane } from "./WirePane";

const TITLE = 40;
const WIDE = "(min-width: 1100px)";

export function App({ setup }: { setup: Setup }) {
  const [sessions, setSessions] = useState<SessionEntry[]>(() => loadSessions(setup.session));
  const [current, setCurrent] = useState(() => loadCurrent(sessions));
  const [sidebar, setSidebar] = useState(false);
  const [wire, setWire] = useState(() => matchMedia(WIDE).matches);
  const [conversation, leave] = useConversation(setup, current);

  useEffect(() => saveCurrent(current), [current]);
  useEffect(() => saveSessions(sessions), [sessions]);
  useEffect(() => {
    const heard = (event: StorageEvent) => {
      if (event.key === "turnwire.sessions") setSessions(loadSessions(setup.session));
    };
    addEventListener("storage", heard);
    return () => removeEventListener("storage", heard);
  }, [setup.session]);

  // Esc closes the drawer wherever the focus is, and does nothing else then.
  useEffect(() => {
    if (!sidebar) return;
    const pressed = (event: KeyboardEvent) => {
      const opener = document.querySelector<HTMLElement>("[aria-controls=sessions]");
      if (event.key !== "Escape" || opener === null || opener.offsetParent === null) return;
      event.preventDefault();
      setSidebar(false);
      opener.focus();
    };
    addEventListener("keydown", pressed, true);
    return () => removeEventListener("keydown", pressed, true);
  }, [sidebar]);

  const choose = useCallback((id: string) => {
    setCurrent(id);
    setSidebar(false);
  }, []);
  const add = useCallback(() => {
    const entry = newSession();
    setSessions((entries) => [entry, ...entries]);
    choose(entry.id);
  }, [choose]);
  const rename = useCallback(
    (id: string, title: string) =>
      setSessions((entries) => entries.map((entry) => (entry.id === id ? { ...entry, title } : entry))),
    [],
  );
  const remove = useCallback(
    (id: string) => {
      leave(id);
      forget(id);
      const left = sessions.filter((entry) => entry.id !== id);
      const others = left.length > 0 ? left : [newSession()];
      setSessions(others);
      if (id === current) choose(others[0]?.id ?? "");
      focusBox();
    },
    [sessions, current, choose, leave],
  );
  const titled = useCallback(
    (text: string) =>
      setSessions((entries) =>
        entries.some((entry) => entry.id === current && entry.title === UNTITLED)
          ? entries.map((entry) => (entry.id === current ? { ...entry, title: text.slice(0, TITLE) } : entry))
          : entries,
      ),
    [current],
  );

  return (
    <div className="app" data-sidebar={sidebar} data-wire={wire}>
      <a className="skip" href="#composer">
        Skip to the message box
      </a>
      <Header
        agentName={setup.agent}
        conversation={conversation}
        sidebar={sidebar}
        wire={wire}
        onSidebar={() => setSidebar(!sidebar)}
        onWire={() => setWire(!wire)}
      />
      <Sidebar
        agentName={setup.agent}
        wire={setup.wire}
        sessions={sessions}
        current={current}
        onChoose={choose}
        onNew={add}
        onRename={rename}
        onDelete={remove}
      />
      {sidebar && <div className="scrim" aria-hidden="true" onClick={() => setSidebar(false)} />}
      <ChatPane key={current} conversation={conversation} prompts={setup.prompts} onFirst={titled} />
      {wire && <WirePane setup={setup} conversation={conversation} onClose={() => setWire(false)} />}
    </div>
  );
}

/** The conversation of a session; those left behind go on, so that nothing is hung up on. */
function useConversation(setup: Setup, session: string): [Conversation, leave: (id: string) => void] {
  const all = useMemo(() => new Map<string, Conversation>(), []);
  let conversation = all.get(session);
  if (conversation === undefined) {
    conversation = new Conversation(setup, session);
    all.set(session, conversation);
  }
  const shown = conversation;
  useEffect(() => {
    if (shown.getState().loading) shown.open();
    else shown.look();
    const ends = [
      followUser(shown, POLL_MS),
      followNetwork(shown),
      listen((news) => all.get(news.session)?.look(true)),
    ];
    return () => ends.forEach((end) => end());
  }, [all, shown]);
  // One that is deleted is left for good: its turn ends, and nobody asks for it any more.
  const leave = useCallback(
    (id: string) => {
      const left = all.get(id);
      all.delete(id);
      void left?.stop().then(() => left.end());
    },
    [all],
  );
  return [shown, leave];
}

export function useView(conversation: Conversation) {
  return useSyncExternalStore(conversation.subscribe, conversation.getState);
}

/** How turns ended that did not end well, by the message that shows it. */
export function useMarks({ marks }: Conversation) {
  return useSyncExternalStore(marks.subscribe, marks.all);
}

/** Which answers went on after a break, by their ids. */
export function useSurvived({ survived }: Conversation) {
  return useSyncExternalStore(survived.subscribe, survived.all);
}
