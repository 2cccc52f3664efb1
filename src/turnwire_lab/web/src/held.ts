// A stream that is resumed tells its turn from the beginning: until it has come as far as the one that
// broke, the page draws what stood there.
import type { UIMessage } from "ai";
import { useRef } from "react";

interface Held {
  message: UIMessage;
  size: Size;
}

type Size = readonly [parts: number, characters: number];

/** The messages as they are to be drawn. `recovering` is true from a break until its turn was found. */
export function useHeld(messages: UIMessage[], recovering: boolean, busy: boolean): UIMessage[] {
  const held = useRef<Held | null>(null);
  if (!recovering && held.current === null) return messages;
  const last = messages.at(-1);
  if (last?.role !== "assistant") return messages;
  const size = sizeOf(last);
  const before = held.current;
  if (before?.message.id === last.id && (recovering || busy)) {
    if (isLess(size, before.size)) return [...messages.slice(0, -1), before.message];
    // It may not have begun yet.
    if (!isLess(before.size, size)) return messages;
  }
  held.current = recovering ? { message: last, size } : null;
  return messages;
}

/** What counts: the outcome of a tool may be shorter than the words that there was none. */
function sizeOf({ parts }: UIMessage): Size {
  const texts = parts.map((part) => (part.type === "text" || part.type === "reasoning" ? part.text.length : 0));
  return [parts.length, texts.reduce((sum, each) => sum + each, 0)];
}

function isLess([parts, characters]: Size, [otherParts, others]: Size): boolean {
  return parts < otherParts || characters < others;
}
