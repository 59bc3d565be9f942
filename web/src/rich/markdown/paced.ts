// A text with a long last block costs much to draw: it is drawn less often while it grows.
import { useEffect, useRef, useState } from "react";

/** A last block of up to this length is drawn with every frame that has new words. */
const SHORT = 1500;
/** Characters of the last block for each millisecond between two drawings. */
const PACE = 25;
/** No word waits longer than this, in milliseconds. */
const LONGEST = 600;

export function pause(length: number): number {
  return length <= SHORT ? 0 : Math.min(length / PACE, LONGEST);
}

/** The text, or while it is live the text as it was at most `wait` milliseconds ago. */
export function usePaced(text: string, live: boolean, wait: () => number): string {
  const [shown, setShown] = useState(text);
  const newest = useRef(text);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  useEffect(() => {
    newest.current = text;
    if (!live || timer.current !== null) return;
    const rest = wait();
    if (rest === 0) setShown(text);
    else
      timer.current = setTimeout(() => {
        timer.current = null;
        setShown(newest.current);
      }, rest);
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
