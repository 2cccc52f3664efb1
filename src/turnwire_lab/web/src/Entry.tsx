// One chat of the list: choose it, name it, take it out.
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";

import { Icon } from "./Icon";
import type { SessionEntry } from "./sessions";

interface Props {
  entry: SessionEntry;
  isCurrent: boolean;
  /** Whether the agent has the history: then it has it still when the chat is gone from here. */
  isKeptByAgent: boolean;
  onChoose: (id: string) => void;
  onRename: (id: string, title: string) => void;
  onDelete: (id: string) => void;
}

const LONGEST = 80;

export function Entry({ entry, isCurrent, isKeptByAgent, onChoose, onRename, onDelete }: Props) {
  const [doing, setDoing] = useState<"naming" | "deleting" | null>(null);
  const row = useRef<HTMLLIElement>(null);
  const was = useRef(doing);
  const titleId = useId();
  // The keyboard stays in the row, whatever stands there now.
  useEffect(() => {
    if (was.current === doing) return;
    const left = was.current;
    was.current = doing;
    row.current?.querySelector<HTMLElement>(doing === null ? `[data-does=${left}]` : "input, [data-first]")?.focus();
  }, [doing]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || doing === null) return;
    // Esc would stop the turn too.
    event.preventDefault();
    setDoing(null);
  };
  return (
    <li ref={row} className="entry" onKeyDown={onKeyDown}>
      {doing === "naming" ? (
        <form
          className="naming"
          onSubmit={(event) => {
            event.preventDefault();
            const title = String(new FormData(event.currentTarget).get("title")).trim();
            if (title !== "") onRename(entry.id, title);
            setDoing(null);
          }}
        >
          <input name="title" aria-label="Name of the chat" defaultValue={entry.title} maxLength={LONGEST} />
          <button type="submit" className="quiet small" aria-label="Save the name">
            <Icon name="check" />
          </button>
        </form>
      ) : (
        <>
          <button
            type="button"
            className="session"
            aria-current={isCurrent ? "true" : undefined}
            onClick={() => onChoose(entry.id)}
          >
            <span className="title" id={titleId}>
              {entry.title}
            </span>
            <span className="id">{entry.id}</span>
          </button>
          {doing === null && (
            <span className="does">
              <Do does="naming" name="Rename" icon="pen" of={titleId} onDo={setDoing} />
              <Do does="deleting" name="Delete" icon="bin" of={titleId} onDo={setDoing} />
            </span>
          )}
        </>
      )}
      {doing === "deleting" && (
        <div className="deleting" role="group" aria-label="Delete this chat?">
          <p>{isKeptByAgent ? "It leaves this list. The agent keeps what was said." : "What was said there is lost."}</p>
          <div className="buttons">
            <button type="button" data-first="" onClick={() => onDelete(entry.id)}>
              Delete the chat
            </button>
            <button type="button" className="plain" onClick={() => setDoing(null)}>
              Keep it
            </button>
          </div>
        </div>
      )}
    </li>
  );
}

interface DoProps {
  does: "naming" | "deleting";
  name: string;
  icon: "pen" | "bin";
  of: string;
  onDo: (does: "naming" | "deleting") => void;
}

function Do({ does, name, icon, of, onDo }: DoProps) {
  return (
    <button
      type="button"
      className="quiet small"
      data-does={does}
      aria-label={name}
      aria-describedby={of}
      title={name}
      onClick={() => onDo(does)}
    >
      <Icon name={icon} />
    </button>
  );
}
