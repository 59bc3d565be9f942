// A long text is drawn in steps: a browser needs seconds to lay out a million characters of some kinds.
import { useCallback, useState } from "react";

/** Characters that are drawn at first. */
export const FIRST = 50_000;
/** Each step draws so many times as much. */
const GROWTH = 4;

export interface Chunk {
  head: string;
  /** Characters that are not drawn yet. */
  rest: number;
  /** How many of them the next step draws. */
  next: number;
  more: () => void;
}

export function useChunk(text: string, first = FIRST): Chunk {
  const [most, setMost] = useState(first);
  const more = useCallback(() => setMost((now) => now * GROWTH), []);
  const end = edge(text, most);
  const rest = text.length - end;
  return { head: rest > 0 ? text.slice(0, end) : text, rest, next: Math.min(rest, most * (GROWTH - 1)), more };
}

/** A character of two halves is not cut apart. */
function edge(text: string, most: number): number {
  if (most >= text.length) return text.length;
  const code = text.charCodeAt(most - 1);
  return code >= 0xd800 && code < 0xdc00 ? most - 1 : most;
}
