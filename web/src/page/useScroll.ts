import { useCallback, useEffect, useLayoutEffect, useRef, useState, type RefObject } from "react";

import { useThread } from "../state/thread";

/** Pixels from the end within which the page follows new words. */
const NEAR = 80;

interface Scroll {
  atEnd: boolean;
  toEnd: () => void;
}

/** Follows the end of a conversation while the person is there, and stays where they are otherwise. Never smoothly. */
export function useScroll(scroller: RefObject<HTMLDivElement | null>, column: RefObject<HTMLDivElement | null>, opened: string | null, first: string | undefined, marked: boolean): Scroll {
  const [atEnd, setAtEnd] = useState(true);
  const follows = useRef(true);
  const anchor = useRef<{ element: Element; top: number } | null>(null);

  const toEnd = useCallback(() => {
    const box = scroller.current;
    follows.current = true;
    setAtEnd(true);
    if (box) box.scrollTop = box.scrollHeight;
  }, [scroller]);

  useEffect(() => {
    const box = scroller.current;
    const content = column.current;
    if (!box || !content) return;
    let height = box.scrollHeight;
    let width = box.clientHeight;
    const look = (): void => {
      const near = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR;
      // A change of size moves the end away, which is not the person leaving it.
      const resized = box.scrollHeight !== height || box.clientHeight !== width;
      height = box.scrollHeight;
      width = box.clientHeight;
      if (near || !resized) {
        follows.current = near;
        setAtEnd(near);
      }
    };
    const keep = (): void => {
      if (follows.current) box.scrollTop = box.scrollHeight;
      else {
        height = box.scrollHeight;
        setAtEnd(box.scrollHeight - box.scrollTop - box.clientHeight < NEAR);
      }
    };
    box.addEventListener("scroll", look, { passive: true });
    const watcher = new ResizeObserver(keep);
    watcher.observe(content);
    watcher.observe(box);
    return () => {
      box.removeEventListener("scroll", look);
      watcher.disconnect();
    };
  }, [scroller, column]);

  // A conversation opens at its end, or with the person's own mark a third from the top.
  useLayoutEffect(() => {
    const box = scroller.current;
    if (!box || opened === null) return;
    const mark = marked ? document.getElementById("left-here") : null;
    if (!mark) {
      toEnd();
      return;
    }
    follows.current = false;
    box.scrollTop += mark.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 3;
    setAtEnd(box.scrollHeight - box.scrollTop - box.clientHeight < NEAR);
    // Only when a conversation is opened: later the person decides.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [opened]);

  // Older turns come above: what the person looks at stays where it is.
  useEffect(
    () =>
      useThread.subscribe((now, before) => {
        const old = before.entries[0]?.turn.id;
        if (now.id !== before.id || !old || now.entries[0]?.turn.id === old) return;
        const element = column.current?.querySelector(".leaf");
        anchor.current = element ? { element, top: element.getBoundingClientRect().top } : null;
      }),
    [column],
  );
  useLayoutEffect(() => {
    const box = scroller.current;
    const held = anchor.current;
    anchor.current = null;
    if (box && held?.element.isConnected) box.scrollTop += held.element.getBoundingClientRect().top - held.top;
  }, [scroller, first]);

  return { atEnd, toEnd };
}
