// A text with a long last block costs much to draw: it is drawn less often while it grows.
import { useEffect, useRef, useState } from "react";

/** Words are drawn so often, in milliseconds: a reader does not see the difference, a battery does. */
const SHORTEST = 50;
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
  const [shown, setShown] = useState(text);
  const newest = useRef(text);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  useEffect(() => {
    newest.current = text;
    if (!live || timer.current !== null) return;
    timer.current = setTimeout(() => {
      timer.current = null;
      setShown(newest.current);
    }, wait());
  }, [text, live, wait]);
  useEffect(
    () => () => {
      if (timer.current !== null) clearTimeout(timer.current);
      timer.current = null;
    },
    [],
  );
  return live && text.startsWith(shown) ? shown : text;
}
