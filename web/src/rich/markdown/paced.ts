// A text with a long last block costs much to draw: it is drawn less often while it grows.
import { useEffect, useReducer, useRef } from "react";

/** A text that grows is drawn at most so often, in milliseconds. */
const SHORTEST = 30;
/** Characters of the last block for each millisecond between two drawings. */
const PACE = 10;
/** No word waits longer than this, in milliseconds. */
const LONGEST = 1000;

/** The milliseconds between two drawings of a text whose last block has this length. */
export function pause(length: number): number {
  return Math.min(Math.max(length / PACE, SHORTEST), LONGEST);
}

/** The text, or while it is live the text as it was at most `wait` milliseconds ago. */
export function usePaced(text: string, live: boolean, wait: () => number): string {
  const drawn = useRef({ text, at: -Infinity });
  const [tries, drawAgain] = useReducer((count: number) => count + 1, 0);
  const now = performance.now();
  const rest = live && text !== drawn.current.text && text.startsWith(drawn.current.text) ? drawn.current.at + wait() - now : 0;
  if (rest <= 0 && text !== drawn.current.text) drawn.current = { text, at: now };
  const late = rest > 0;
  useEffect(() => {
    if (!late) return;
    const timer = setTimeout(drawAgain, rest);
    return () => clearTimeout(timer);
    // The timer that waits draws the words that come meanwhile, too.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [late, tries]);
  return drawn.current.text;
}
