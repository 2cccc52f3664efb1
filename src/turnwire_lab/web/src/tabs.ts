// What tabs of one browser tell each other, and how they share its connections.

export interface TabNews {
  kind: "turn";
  session: string;
}

// Over HTTP/1.1 a browser opens six connections to one host, for all its tabs together, and a
// request beyond them waits without a word. Four may be streams of turns, one of them no
// follower's; one is the wire's; one stays free, so that a stop or an answer never waits.
const FOR_PROMPTS = ["turnwire-stream-3", "turnwire-stream-2", "turnwire-stream-1", "turnwire-stream-0"];
const FOR_FOLLOWERS = FOR_PROMPTS.slice(1);
const OF_WIRE = "turnwire-wire";

const channel = new BroadcastChannel("turnwire-demo");

export function tell(news: TabNews): void {
  channel.postMessage(news);
}

export function listen(hear: (news: TabNews) => void): () => void {
  const heard = (event: MessageEvent<TabNews>) => hear(event.data);
  channel.addEventListener("message", heard);
  return () => channel.removeEventListener("message", heard);
}

/** A place for a stream, as the function that gives it back; null if all are taken. */
export async function takePlace(follows: boolean): Promise<(() => void) | null> {
  // Tabs that only look whether a turn runs have a place for a moment: a prompt waits for that.
  for (const wait of follows ? [0] : [0, 100, 200, 400, 800]) {
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    for (const name of follows ? FOR_FOLLOWERS : FOR_PROMPTS) {
      const giveBack = await tryPlace(name);
      if (giveBack !== null) return giveBack;
    }
  }
  return null;
}

/** Whether another tab has the wire. */
export async function wireIsTaken(): Promise<boolean> {
  const { held } = await navigator.locks.query();
  return held?.some((lock) => lock.name === OF_WIRE) ?? false;
}

/** Do it once the wire is this tab's alone. */
export async function withWire(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  await navigator.locks.request(OF_WIRE, { signal }, work);
}

function tryPlace(name: string): Promise<(() => void) | null> {
  return new Promise((resolve) => {
    void navigator.locks.request(name, { ifAvailable: true }, (lock) => {
      if (lock === null) {
        resolve(null);
        return undefined;
      }
      return new Promise<void>((release) => resolve(release));
    });
  });
}
