import { createContext, useContext } from "react";

import type { Conversation } from "./conversation";

export const ConversationContext = createContext<Conversation | null>(null);

export function useConversationHere(): Conversation {
  const conversation = useContext(ConversationContext);
  if (conversation === null) throw new Error("outside of a conversation");
  return conversation;
}
