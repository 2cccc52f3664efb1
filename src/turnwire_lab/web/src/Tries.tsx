// What there is to try, from the message box: a conversation that has begun hides the start screen.
import { useEffect, useRef } from "react";

import type { Conversation } from "./conversation";
import { focusBox } from "./focus";
import { Icon } from "./Icon";
import { triesOf } from "./prompts";

interface ButtonProps {
  isOpen: boolean;
  onToggle: () => void;
}

export function TriesButton({ isOpen, onToggle }: ButtonProps) {
  return (
    <button
      type="button"
      className="quiet"
      aria-label="Things to try"
      title="Things to try"
      aria-expanded={isOpen}
      aria-controls="tries"
      onClick={onToggle}
    >
      <Icon name="spark" />
    </button>
  );
}

interface Props {
  conversation: Conversation;
  prompts: [string, string][];
  isOpen: boolean;
  busy: boolean;
  onClose: () => void;
}

export function Tries({ conversation, prompts, isOpen, busy, onClose }: Props) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    if (isOpen) list.current?.querySelector("button")?.focus();
  }, [isOpen]);
  const close = () => {
    onClose();
    focusBox();
  };
  return (
    <ul
      id="tries"
      className="tries"
      ref={list}
      aria-label="Prompts to try"
      hidden={!isOpen}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        // Esc would stop the turn too.
        event.preventDefault();
        close();
      }}
    >
      {isOpen &&
        triesOf(prompts).map(([prompt, what]) => (
          <li key={prompt}>
            <button
              type="button"
              disabled={busy}
              onClick={() => {
                void conversation.send({ text: prompt });
                close();
              }}
            >
              <span>{prompt}</span>
              <small>{what}</small>
            </button>
          </li>
        ))}
    </ul>
  );
}
