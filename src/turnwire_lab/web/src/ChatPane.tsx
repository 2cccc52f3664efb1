import { useChat } from "@ai-sdk/react";
import { AssistantRuntimeProvider, ThreadPrimitive } from "@assistant-ui/react";
import { useAISDKRuntime } from "@assistant-ui/react-ai-sdk";
import { useEffect, useMemo } from "react";

import { useView } from "./App";
import { attachments } from "./attachments";
import { Composer } from "./Composer";
import { type Conversation, REDRAW_MS } from "./conversation";
import { ConversationContext } from "./context";
import { useHeld } from "./held";
import { Icon } from "./Icon";
import { Live } from "./Live";
import { AssistantMessage, UserMessage } from "./Message";
import { NoticeBar } from "./NoticeBar";
import { Welcome } from "./Welcome";

interface Props {
  conversation: Conversation;
  prompts: [string, string][];
  onFirst: (text: string) => void;
}

export function ChatPane({ conversation, prompts, onFirst }: Props) {
  const chat = useChat({ chat: conversation.chat, throttle: REDRAW_MS });
  const view = useView(conversation);
  const messages = useHeld(chat.messages, view.recovering, conversation.busy);
  const files = useMemo(attachments, []);
  // What the kit calls "cancel" is a stop at the agent here.
  const helpers = useMemo<typeof chat>(
    () => ({
      ...chat,
      messages,
      stop: conversation.stop,
      sendMessage: (prompt, options) => conversation.send(prompt, options),
      regenerate: async (options) => void (await conversation.begin(() => chat.regenerate(options))),
    }),
    [chat, conversation, messages],
  );
  const runtime = useAISDKRuntime(helpers, {
    adapters: { attachments: files },
    cancelPendingToolCallsOnSend: false,
    joinStrategy: "none",
  });

  const first = chat.messages.find((message) => message.role === "user");
  const title = first?.parts.find((part) => part.type === "text")?.text;
  useEffect(() => {
    if (title) onFirst(title);
  }, [title, onFirst]);

  // Wherever the focus is, Esc stops the turn, unless it closed something else.
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !event.defaultPrevented) void conversation.stop();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, [conversation]);

  const talks = chat.messages.length > 0;
  return (
    <ConversationContext value={conversation}>
      <AssistantRuntimeProvider runtime={runtime}>
        <ThreadPrimitive.Root asChild>
          <main className="chat" aria-label="Chat" aria-busy={view.loading}>
            <ThreadPrimitive.Viewport
              className="viewport"
              role="log"
              aria-live="off"
              aria-label="Conversation"
              tabIndex={0}
              // To look whether a turn runs counts as a run, and what there is to try begins at its top.
              autoScroll={talks}
              scrollToBottomOnRunStart={talks}
              scrollToBottomOnThreadSwitch={talks}
            >
              {view.loading && <p className="loading">Loading the history…</p>}
              {!talks && !view.loading && <Welcome conversation={conversation} prompts={prompts} />}
              <ThreadPrimitive.Messages components={{ UserMessage, AssistantMessage }} />
              {chat.status === "submitted" && (
                <p className="waiting" aria-hidden="true">
                  <span />
                  <span />
                  <span />
                </p>
              )}
              <NoticeBar conversation={conversation} />
              {talks && (
                <ThreadPrimitive.ScrollToBottom className="to-bottom" aria-label="To the newest message">
                  <Icon name="down" />
                </ThreadPrimitive.ScrollToBottom>
              )}
            </ThreadPrimitive.Viewport>
            <Composer conversation={conversation} busy={conversation.busy} prompts={prompts} />
            <Live conversation={conversation} />
          </main>
        </ThreadPrimitive.Root>
      </AssistantRuntimeProvider>
    </ConversationContext>
  );
}
