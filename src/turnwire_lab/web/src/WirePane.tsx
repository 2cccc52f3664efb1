import { memo, useEffect, useRef, useState, useSyncExternalStore } from "react";

import type { Conversation } from "./conversation";
import { Faults } from "./Faults";
import { Icon } from "./Icon";
import type { Setup } from "./lab";
import { type Entry, type Lane, WireStore } from "./wire";

const SHOWN = 250;
const NEAR = 40;
const LANES: [Lane[], string][] = [
  [["frame"], "From agent"],
  [["chunk"], "To client"],
  [["command"], "To agent"],
  [["request", "note"], "Other"],
];
// The same words for clients of its own, old and new.
const TWOFOLD = ["chunk", "message.part.text-delta"] as const;
const HUNG_UP = "the gateway hung up";
const WORDS: Record<Lane, string> = {
  request: "from client",
  command: "to agent",
  frame: "from agent",
  chunk: "to client",
  note: "lab",
};

interface Props {
  setup: Setup;
  conversation: Conversation;
  onClose: () => void;
}

// One for the page's life: closing the view forgets nothing.
const store = new WireStore();

export function WirePane({ setup, conversation, onClose }: Props) {
  useListening(setup);
  useSyncExternalStore(store.subscribe, store.version);
  const [off, setOff] = useState<ReadonlySet<Lane>>(new Set());
  const [words, setWords] = useState("");
  const [chosen, setChosen] = useState<number | null>(null);
  const { session } = conversation;

  const here = store.entries.filter((entry) => entry.session === session || entry.session === "");
  const shown = here
    .filter((entry) => !off.has(entry.lane) && entry.kind.includes(words.trim()))
    .slice(-SHOWN);
  const selected = store.entry(chosen);
  const related = new Set(selected === undefined ? [] : relatives(selected).map((entry) => entry.n));
  const median = store.median(session);

  return (
    <aside className="wire" aria-label="Wire" data-connected={store.connected}>
      <header>
        <h2>Wire</h2>
        <p className="median" title="The median time from a frame's way into turnwire to its chunk's way out, measured from outside">
          {median !== undefined
            ? `frame to chunk: ${delayWords(median)}`
            : store.hasDeltas(session)
              ? "frame to chunk: too many to match"
              : "no deltas yet"}
        </p>
        <button type="button" className="quiet small text" onClick={() => store.clear()}>
          Clear
        </button>
        <button type="button" className="quiet small" aria-label="Close the wire view" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <Faults setup={setup} conversation={conversation} />
      <div className="filters" role="group" aria-label="Filter">
        {LANES.map(([lanes, name]) => (
          <button
            key={name}
            type="button"
            className="filter"
            data-lane={lanes[0]}
            aria-pressed={!lanes.some((lane) => off.has(lane))}
            onClick={() => setOff(toggled(off, lanes))}
          >
            {name}
          </button>
        ))}
        <input
          type="search"
          placeholder="filter by type…"
          aria-label="Show only types with"
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
      </div>
      {store.elsewhere && (
        <p className="nothing" role="status">
          Another tab of this browser has the wire. Close the view there, and it is here. A browser opens six
          connections to one host for all its tabs: the wire takes one, answers take up to four, and one stays free.
        </p>
      )}
      {shown.length > 0 && (
        <p className="legend">
          <span>left: since the entry above</span> <span>right: from a frame to its chunk</span>
        </p>
      )}
      {shown.length > 0 && isTwofold(here) && (
        <p className="legend twofold">
          This agent sends each word twice, as <code>{TWOFOLD[0]}</code> and as <code>{TWOFOLD[1]}</code>. The client gets it once.
        </p>
      )}
      {(shown.length > 0 || !store.elsewhere) && (
        <Rows
          entries={shown}
          filtered={shown.length < here.length}
          chosen={chosen}
          related={related}
          onChoose={setChosen}
        />
      )}
      {selected !== undefined && <Detail entry={selected} onChoose={setChosen} onClose={() => setChosen(null)} />}
    </aside>
  );
}

interface RowsProps {
  entries: Entry[];
  filtered: boolean;
  chosen: number | null;
  related: ReadonlySet<number>;
  onChoose: (n: number) => void;
}

function Rows({ entries, filtered, chosen, related, onChoose }: RowsProps) {
  const list = useRef<HTMLOListElement>(null);
  const follow = useRef(true);
  const newest = entries.at(-1)?.n;
  useEffect(() => {
    if (follow.current && list.current !== null) list.current.scrollTop = list.current.scrollHeight;
  }, [newest]);
  // What opens above or below takes its room, and the newest is at the bottom all the same.
  const isEmpty = entries.length === 0;
  useEffect(() => {
    const box = list.current;
    if (box === null) return;
    const watch = new ResizeObserver(() => {
      if (follow.current) box.scrollTop = box.scrollHeight;
    });
    watch.observe(box);
    return () => watch.disconnect();
  }, [isEmpty]);
  if (isEmpty) {
    return (
      <p className="nothing" role="status">
        {filtered ? "Nothing matches." : "Send a prompt: what the agent says and what the client gets appears here."}
      </p>
    );
  }
  const first = entries[0]?.at ?? 0;
  return (
    <ol
      className="rows"
      ref={list}
      aria-label="What passed"
      tabIndex={0}
      onScroll={({ currentTarget: at }) => {
        follow.current = at.scrollHeight - at.scrollTop - at.clientHeight < NEAR;
      }}
    >
      {entries.map((entry, place) => (
        <Row
          key={entry.n}
          entry={entry}
          gap={entry.at - (entries[place - 1]?.at ?? first)}
          delay={entry.lane === "chunk" ? store.delay(entry) : undefined}
          mark={entry.n === chosen ? "chosen" : related.has(entry.n) ? "related" : undefined}
          onChoose={onChoose}
        />
      ))}
    </ol>
  );
}

interface RowProps {
  entry: Entry;
  gap: number;
  delay: number | undefined;
  mark: "chosen" | "related" | undefined;
  onChoose: (n: number) => void;
}

const Row = memo(function Row({ entry, gap, delay, mark, onChoose }: RowProps) {
  return (
    <li data-lane={entry.lane} data-kind={entry.kind} data-mark={mark}>
      <button type="button" aria-pressed={mark === "chosen"} onClick={() => onChoose(entry.n)}>
        <span className="gap">{gapWords(gap)}</span>
        <span className="lane">{direction(entry)}</span>
        <span className="kind">{entry.kind}</span>
        <span className="gist">{gist(entry)}</span>
        <span className="delay">{delay === undefined ? "" : delayWords(delay)}</span>
      </button>
    </li>
  );
});

function Detail({ entry, onChoose, onClose }: { entry: Entry; onChoose: (n: number) => void; onClose: () => void }) {
  const others = relatives(entry);
  return (
    <section
      className="detail"
      aria-label="Chosen entry"
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        event.stopPropagation();
        onClose();
      }}
    >
      <header>
        <h3>{entry.kind}</h3>
        <p>
          {direction(entry)} · {entry.size.toLocaleString("en")} bytes · at {(entry.at / 1000).toFixed(3)} s
        </p>
        <button type="button" className="quiet small" aria-label="Close the entry" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      {(entry.lane === "frame" || entry.lane === "chunk") && (
        <div className="became">
          <h4>{entry.lane === "frame" ? "It became" : "It came from"}</h4>
          {others.length === 0 ? (
            <p>{entry.lane === "frame" ? "Nothing: the client needs none of it, or had it already." : "Turnwire itself."}</p>
          ) : (
            <ul>
              {others.map((other) => (
                <li key={other.n} data-lane={other.lane}>
                  <button type="button" onClick={() => onChoose(other.n)}>
                    <span className="kind">{other.kind}</span> <span className="gist">{gist(other)}</span>
                  </button>
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
      {entry.body !== "" && (
        <pre tabIndex={0} role="group" aria-label="Its text">
          {pretty(entry.body)}
        </pre>
      )}
    </section>
  );
}

function relatives(entry: Entry): Entry[] {
  if (entry.lane === "frame") return store.chunksOf(entry.n);
  const frame = store.frameOf(entry.n);
  return entry.lane === "chunk" && frame !== undefined ? [frame] : [];
}

/** Listens while the page can be seen: a browser has few connections to spare. */
function useListening(setup: Setup): void {
  useEffect(() => {
    let listening = new AbortController();
    const turn = () => {
      listening.abort();
      if (document.visibilityState === "hidden") return;
      listening = new AbortController();
      void store.listen(setup, listening.signal);
    };
    turn();
    document.addEventListener("visibilitychange", turn);
    return () => {
      document.removeEventListener("visibilitychange", turn);
      listening.abort();
    };
  }, [setup]);
}

function toggled(off: ReadonlySet<Lane>, lanes: Lane[]): ReadonlySet<Lane> {
  const next = new Set(off);
  for (const lane of lanes) {
    if (!next.delete(lane)) next.add(lane);
  }
  return next;
}

/** A request's answer stands in its lane, and goes the other way. So does the end of a stream that the gateway broke off. */
function direction({ lane, kind }: Entry): string {
  const isAnswer = lane === "request" && !/^[A-Z]+ /.test(kind);
  return isAnswer || (lane === "note" && kind === HUNG_UP) ? "to client" : WORDS[lane];
}

/** Whether the agent sends its words in frames of both kinds. */
function isTwofold(entries: Entry[]): boolean {
  return TWOFOLD.every((kind) => entries.some((entry) => entry.lane === "frame" && entry.kind === kind));
}

function delayWords(ms: number): string {
  return ms < 1000 ? `${ms.toFixed(1)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

function gapWords(ms: number): string {
  if (ms < 1) return "";
  return ms < 1000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

const GISTS = [
  ...["delta", "content", "errorText", "status", "toolName", "text", "reason", "questionId"],
  ...["inputTextDelta", "toolCallName", "stepName", "name", "message"],
];

/** The few words of an entry that tell it from its neighbours. */
function gist(entry: Entry): string {
  try {
    const fields = JSON.parse(entry.body) as Record<string, unknown>;
    const data = (fields["data"] ?? {}) as Record<string, unknown>;
    for (const name of GISTS) {
      const told = fields[name] ?? data[name];
      if (typeof told === "string") return told;
    }
  } catch {
    // Cut short, or no JSON: the type has to do.
  }
  return "";
}

function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
