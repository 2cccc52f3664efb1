// One session as this tab has it: the chat of `useChat`, its slots of the browser's connections, and
// how its turns ended.
import { Chat, type UIMessage } from "@ai-sdk/react";
import { Session } from "turnwire-session";

import { authorization, type Setup } from "./lab";
import { Marks } from "./marks";
import { memoryOf } from "./memory";
import { Survived } from "./survived";
import { takePlace, tell } from "./tabs";

export const POLL_MS = 10_000;
// A flood of deltas is drawn this often, not as often as it comes.
export const REDRAW_MS = 40;
// The demo's gateway says something at least every 5 s.
const SILENCE_MS = 20_000;

export class Conversation extends Session<Chat<UIMessage>> {
  readonly marks: Marks;
  readonly survived = new Survived();

  constructor(
    setup: Setup,
    readonly session: string,
  ) {
    const marks = new Marks(session);
    super(
      {
        session,
        fetch: (input, init) => fetch(input, { ...init, headers: signed(setup, init) }),
        nativeApprovals: true,
        silenceMs: SILENCE_MS,
        slots: { take: takePlace },
        endings: marks,
        memory: memoryOf(session),
        onTurn: () => tell({ kind: "turn", session }),
      },
      (init) => new Chat<UIMessage>(init),
    );
    this.marks = marks;
    this.subscribe(() => this.survived.see(this.getState()));
  }
}

function signed(setup: Setup, init: RequestInit | undefined): Headers {
  const headers = new Headers(init?.headers);
  for (const [name, value] of Object.entries(authorization(setup))) headers.set(name, value);
  return headers;
}
