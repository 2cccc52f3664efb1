import type { UIMessage } from "@ai-sdk/react";
import { isToolUIPart } from "ai";
import { useRef } from "react";

import { useView } from "./App";
import type { Conversation } from "./conversation";
import { type Fault, plan, type Setup } from "./lab";
import { Icon } from "./Icon";

interface Play {
  name: string;
  what: string;
  prompt: string;
}

const STORY = "tell me a long story";
const PLAYS: Record<Fault, Play> = {
  "agent-dies": {
    name: "Agent hangs up",
    what: "Its line is cut in mid-turn: the client hears it at once, and comes back to the turn.",
    prompt: STORY,
  },
  "agent-hangs": {
    name: "Agent hangs",
    what: "It falls silent: keepalives, then after 12 s an abort to the agent and an error.",
    prompt: STORY,
  },
  "agent-floods": {
    name: "Agent floods",
    what: "5,000 frames nobody asked for, in the middle of a story: the story is whole.",
    prompt: STORY,
  },
  "agent-babbles": {
    name: "Agent babbles",
    what: "No JSON, wrong types, somebody else's turn: dropped, and the story is whole.",
    prompt: STORY,
  },
  "slow-client": {
    name: "Slow client",
    what: "It stops reading while the agent floods. Once all buffers are full, the gateway waits 6 s and lets go of it.",
    prompt: "flood 60000 and hang",
  },
  "agent-killed": {
    name: "Kill the agent's process",
    what: "SIGKILL in the middle of a tool, at once where a turn runs. The next process goes on with the same turn.",
    prompt: "survey the pages for journal",
  },
  "gateway-restarts": {
    name: "Gateway restarts",
    what: "In mid-turn. The next process knows nothing, asks the agent, and goes on.",
    prompt: STORY,
  },
};

// A tool that runs so long is in its middle.
const MIDDLE_MS = 1500;
const LOOK_MS = 100;
const NARROW = "(max-width: 760px)";

// Agents of other wires have no turn but the one that a connection carries.
const ONE_CONNECTION: Partial<Record<Fault, string>> = {
  "agent-dies": "Its response is cut in mid-turn: the client hears it at once, and keeps what came before.",
  "agent-hangs": "It falls silent: keepalives, then after 12 s an error, and the gateway hangs up.",
  "gateway-restarts": "In mid-turn. The turn's connection ends with the process: the client keeps what came before.",
};

function whatOf({ wire }: Setup, fault: Fault): string {
  const tellsAgain = wire === "v2" || wire === "session-agent";
  return (tellsAgain ? undefined : ONE_CONNECTION[fault]) ?? PLAYS[fault].what;
}

export function Faults({ setup, conversation }: { setup: Setup; conversation: Conversation }) {
  const { recovering } = useView(conversation);
  const list = useRef<HTMLDetailsElement>(null);
  const play = async (fault: Fault) => {
    // Where there is little room, what it does to the chat and on the wire is what there is to see.
    if (matchMedia(NARROW).matches) list.current?.removeAttribute("open");
    if (fault === "agent-killed") {
      if (!conversation.busy) {
        void conversation.send({ text: PLAYS[fault].prompt });
        if (!(await inMidTool(conversation))) return;
      }
      await plan(setup, conversation.session, fault);
      return;
    }
    if (conversation.busy || conversation.asking) await conversation.stop();
    await plan(setup, conversation.session, fault);
    void conversation.send({ text: PLAYS[fault].prompt });
  };
  return (
    <details className="faults" ref={list}>
      <summary>
        <Icon name="bolt" />
        Break something
        <Icon name="chevron" />
      </summary>
      <ul>
        {setup.faults.map((fault) => (
          <li key={fault}>
            <button type="button" data-fault={fault} disabled={recovering} onClick={() => void play(fault)}>
              <strong>{PLAYS[fault].name}</strong>
              <small>{whatOf(setup, fault)}</small>
            </button>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Wait for a tool of the newest answer to be in its middle; false: the turn ended before. */
async function inMidTool(conversation: Conversation): Promise<boolean> {
  let since: number | null = null;
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    if (!conversation.busy && !conversation.asking && !conversation.getState().recovering) return false;
    const running = conversation.chat.messages.at(-1)?.parts.some(runs) ?? false;
    since = running ? (since ?? performance.now()) : null;
    if (since !== null && performance.now() - since >= MIDDLE_MS) return true;
  }
}

function runs(part: UIMessage["parts"][number]): boolean {
  return isToolUIPart(part) && part.state === "input-available";
}
