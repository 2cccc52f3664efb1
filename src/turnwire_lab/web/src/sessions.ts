// The list of sessions in the side bar. Who has their history is said in `memory.ts`; this is only which, and a title.

export interface SessionEntry {
  id: string;
  title: string;
}

const KEY = "turnwire.sessions";
const CURRENT = "turnwire.session";
const MOST = 50;
export const UNTITLED = "New chat";

export function loadSessions(first: string): SessionEntry[] {
  const kept = keptSessions(first);
  const named = namedSession();
  if (named === null || kept.some((entry) => entry.id === named.id)) return kept;
  return [named, ...kept];
}

function keptSessions(first: string): SessionEntry[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    if (Array.isArray(kept)) {
      const entries = kept.filter(isEntry);
      if (entries.length > 0) return entries;
    }
  } catch {
    // Somebody else's, or cut short: begin anew.
  }
  return [{ id: first, title: UNTITLED }];
}

export function saveSessions(entries: SessionEntry[]): void {
  localStorage.setItem(KEY, JSON.stringify(entries.slice(0, MOST)));
}

/** The session that the address names: `/?session=my-session`. */
export function namedSession(): SessionEntry | null {
  const id = new URLSearchParams(location.search).get("session") ?? "";
  return /^[A-Za-z0-9_:-][A-Za-z0-9_.:-]{0,127}$/.test(id) ? { id, title: UNTITLED } : null;
}

// Which one a tab shows is the tab's own, and survives its reload.
export function loadCurrent(entries: SessionEntry[]): string {
  const kept = sessionStorage.getItem(CURRENT) ?? namedSession()?.id;
  return entries.some((entry) => entry.id === kept) ? (kept as string) : (entries[0]?.id ?? "demo");
}

export function saveCurrent(id: string): void {
  sessionStorage.setItem(CURRENT, id);
}

export function newSession(): SessionEntry {
  return { id: `chat-${crypto.randomUUID().slice(0, 13)}`, title: UNTITLED };
}

function isEntry(value: unknown): value is SessionEntry {
  const entry = value as SessionEntry | null;
  return typeof entry?.id === "string" && typeof entry.title === "string";
}
