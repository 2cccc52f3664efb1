// What is typed and not sent, by session, for as long as the tab lives.

const KEY = "turnwire.drafts";
const MOST = 20;
const LONGEST = 50_000;

export function loadDraft(session: string): string {
  return kept().find(([of]) => of === session)?.[1] ?? "";
}

export function saveDraft(session: string, text: string): void {
  const others = kept().filter(([of]) => of !== session);
  const all = text === "" ? others : [...others, [session, text.slice(0, LONGEST)]];
  sessionStorage.setItem(KEY, JSON.stringify(all.slice(-MOST)));
}

function kept(): [string, string][] {
  try {
    const read: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? "[]");
    if (Array.isArray(read)) return read.filter(isDraft);
  } catch {
    // Cut short: begin anew.
  }
  return [];
}

function isDraft(value: unknown): value is [string, string] {
  return Array.isArray(value) && typeof value[0] === "string" && typeof value[1] === "string";
}
