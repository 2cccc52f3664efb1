// `useChat` with all that a session in front of a gateway needs.
import { Chat, useChat } from "@ai-sdk/react";
import type { ChatInit, UIMessage } from "ai";
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";

import { TurnChangedError, TurnwireError } from "./errors.js";
import { isBusy, Look } from "./look.js";
import { BROWSER } from "./network.js";
import type { TransportOptions } from "./options.js";
import { gatewayOf } from "./place.js";
import { sendAgain, type TurnwireSession } from "./session.js";
import type { Token } from "./tokens.js";
import { TurnwireChatTransport } from "./transport.js";
import type { UnsentPrompt } from "./unsent.js";
import { Waiting } from "./waiting.js";

export interface TurnwireOptions<M extends UIMessage = UIMessage>
  extends Omit<TransportOptions, "sessionId">,
    Omit<ChatInit<M>, "id" | "messages" | "transport"> {
  sessionId: string;
}

/** What the chat is doing, in one word. Those of `useChat`, and those that it does not know. */
export type Phase = "loading" | "submitted" | "streaming" | "reconnecting" | "offline" | "stopping" | "ready" | "error";

export interface Turnwire<M extends UIMessage = UIMessage> extends Omit<ReturnType<typeof useChat<M>>, "stop"> {
  phase: Phase;
  /** Stop the turn at the agent; a turn that waits for an approval, too. */
  stop: () => Promise<void>;
  /** Answer a question. Throws a `RefusedError` if the answer was not taken. */
  answer: TurnwireSession["answer"];
  /** Read the history again, and follow the turn that runs: what the hook does first, and what helps after an error. */
  reload: () => Promise<void>;
  /** Prompts that the agent does not have. */
  unsent: readonly UnsentPrompt[];
  /** Send one of them again; false if the agent has it by now, or if it was sent from elsewhere. */
  sendAgain: (id: string) => Promise<boolean>;
  /** Forget one of them. */
  forget: (id: string) => void;
}

export function useTurnwire<M extends UIMessage = UIMessage>(options: TurnwireOptions<M>): Turnwire<M> {
  const latest = useRef(options);
  latest.current = options;
  const reading = useRef(() => {});
  const { url, sessionId, user } = options;
  // A chat of our own: that of `useChat` is stopped when its component goes away.
  const { chat, transport, look, waiting } = useMemo(() => chatOf<M>(latest, reading), [url, sessionId, user]);
  const session = transport.session();
  const helpers = useChat<M>({ chat });
  const { line, stopping } = useSyncExternalStore(transport.subscribe, transport.getState, transport.getState);
  const waits = useSyncExternalStore(waiting.subscribe, waiting.isAny, waiting.isAny);
  const unsent = useSyncExternalStore(transport.subscribe, session.unsent.list, nothing);
  const [looked, setLooked] = useState<{ chat: unknown; loading: boolean; failure?: Error }>();
  // What became of the look at another session says nothing of this one.
  const { loading, failure } = looked?.chat === chat ? looked : LOADING;
  const here = useRef<AbortController>(undefined);

  const reload = useCallback(
    async (): Promise<void> => {
      // Nothing is followed that nobody shows.
      const signal = here.current?.signal;
      if (signal === undefined || signal.aborted || !waiting.isShown) return;
      setLooked({ chat, loading: true });
      const failed = await look.take(chat, session, signal).then(
        () => ({}),
        (failure: Error) => ({ failure }),
      );
      if (!signal.aborted) setLooked({ chat, loading: false, ...failed });
    },
    [chat, session, look, waiting],
  );
  const text = typeof options.token === "string" ? options.token : undefined;
  useEffect(() => transport.renewToken(), [transport, text]);
  useEffect(() => {
    const mounted = new AbortController();
    here.current = mounted;
    waiting.isShown = true;
    reading.current = () => void reload();
    void reload();
    // What was given up while there was no network.
    const unsubscribe = BROWSER.whenBack(() => {
      if (chat.status === "error") void reload();
    });
    return () => {
      // What waits is not sent, though the end of the look ends its wait.
      waiting.isShown = false;
      mounted.abort();
      unsubscribe();
      transport.leave();
    };
  }, [chat, reload, transport, waiting]);

  const stop = useCallback(async () => {
    waiting.stop();
    const waits = chat.messages.at(-1);
    const isAsking = !isBusy(chat) && waits?.role === "assistant" && asksApproval(waits);
    if (isBusy(chat)) look.stop();
    await chat.stop();
    await transport.settled();
    if (!isAsking) return;
    await session.stop(waits.id);
    await reload();
  }, [chat, transport, session, look, waiting, reload]);
  const again = useCallback(
    async (id: string) => {
      const isSent = await waiting.behind(() => sendAgain(session, chat as never, id), false);
      // The agent has it: the turn of it may run.
      if (!isSent) await reload();
      return isSent;
    },
    [session, waiting, chat, reload],
  );
  const sendMessage: typeof chat.sendMessage = useCallback((...prompt) => waiting.send(...prompt), [waiting]);
  const regenerate: typeof chat.regenerate = useCallback((...which) => waiting.behind(() => chat.regenerate(...which), undefined), [waiting, chat]);

  return {
    ...helpers,
    id: chat.id,
    sendMessage,
    regenerate,
    error: helpers.error ?? failure,
    phase: phaseOf(loading, waits, stopping, line, failure === undefined ? helpers.status : "error"),
    stop,
    answer: useCallback((...answer) => session.answer(...answer), [session]),
    reload,
    unsent: useMemo(() => (isBusy(helpers) ? unsent.filter(({ code }) => code !== null) : unsent), [unsent, helpers.status]),
    sendAgain: again,
    forget: useCallback((id: string) => session.unsent.remove(id), [session]),
  };
}

const LOADING = { loading: true, failure: undefined };
const NONE: readonly UnsentPrompt[] = [];
const nothing = () => NONE;

type Latest<M extends UIMessage> = { current: TurnwireOptions<M> };

/** The token of the newest render, while that is of the same user and the same gateway: no request goes out, or is repeated,
 * in the name of someone else than its author, and no token goes to another gateway than it was asked for. */
function tokenOf<M extends UIMessage>(latest: Latest<M>, first: Token): Token {
  const { user } = latest.current;
  const gateway = gatewayOf(latest.current);
  const check = () => {
    if (latest.current.user !== user) throw new TurnwireError("no_token", "Another user is signed in");
    if (gatewayOf(latest.current) !== gateway) throw new TurnwireError("no_token", "The page is at another gateway");
  };
  return async (ask) => {
    // Before it is asked for, too: whoever comes back meanwhile has no token of the one between.
    check();
    const newest = latest.current.token ?? first;
    const token = typeof newest === "string" ? newest : await newest(ask);
    check();
    return token;
  };
}

/** A chat whose callbacks are those of the newest render. */
function chatOf<M extends UIMessage>(latest: Latest<M>, reading: { current: () => void }) {
  const { token } = latest.current;
  const transport = new TurnwireChatTransport<M>({
    ...latest.current,
    ...(token !== undefined && { token: tokenOf(latest, token) }),
  });
  const look = new Look<M>();
  const { generateId, messageMetadataSchema, dataPartSchemas, sendAutomaticallyWhen } = latest.current;
  const chat = new Chat<M>({
    id: latest.current.sessionId,
    transport: look.watched(transport),
    ...(generateId && { generateId }),
    ...(messageMetadataSchema && { messageMetadataSchema }),
    ...(dataPartSchemas && { dataPartSchemas }),
    ...(sendAutomaticallyWhen && { sendAutomaticallyWhen: (state) => latest.current.sendAutomaticallyWhen?.(state) ?? false }),
    onToolCall: (call) => latest.current.onToolCall?.(call),
    onData: (part) => latest.current.onData?.(part),
    onFinish: (end) => latest.current.onFinish?.(end),
    onError: (error) => {
      if (error instanceof TurnChangedError) reading.current();
      else latest.current.onError?.(error);
    },
  });
  return { chat, transport, look, waiting: new Waiting<M>(chat, transport.session(), look) };
}

function asksApproval({ parts }: UIMessage): boolean {
  return parts.some((part) => "state" in part && part.state === "approval-requested");
}

function phaseOf(loading: boolean, waits: boolean, stopping: boolean, line: string, status: Phase): Phase {
  if (stopping) return "stopping";
  if (line === "reconnecting" || line === "offline") return line;
  if (waits) return status === "streaming" ? status : "submitted";
  return loading ? "loading" : status;
}
