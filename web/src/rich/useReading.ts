import { useCallback, useEffect, useRef, useState } from "react";

/** Pixels that may be missing at the end of a text that was scrolled to its end. */
const SLACK = 4;

export interface Reading {
  /** For the element that scrolls. */
  attach: (element: HTMLElement | null) => void;
  look: () => void;
  /** There is more below what can be seen. */
  below: boolean;
  /** It was never seen to its end. */
  unread: boolean;
}

/** Whether a text was scrolled to its end. What has a button for more in it is not drawn to its end. */
export function useReading(text: string): Reading {
  const box = useRef<HTMLElement | null>(null);
  const [below, setBelow] = useState(false);
  const [read, setRead] = useState<string | null>(null);
  const look = useCallback(() => {
    const element = box.current;
    if (!element) return;
    const rest = element.scrollHeight - element.clientHeight - element.scrollTop > SLACK || element.querySelector("[data-more]") !== null;
    setBelow(rest);
    // A box that is folded away has no height, and was not read.
    if (!rest && element.clientHeight > 0) setRead(text);
  }, [text]);
  useEffect(() => {
    look();
    const element = box.current;
    if (!element) return;
    const grown = new MutationObserver(look);
    grown.observe(element, { childList: true, subtree: true });
    const resized = typeof ResizeObserver === "undefined" ? null : new ResizeObserver(look);
    resized?.observe(element);
    return () => {
      grown.disconnect();
      resized?.disconnect();
    };
  }, [look]);
  const attach = useCallback((element: HTMLElement | null) => {
    box.current = element;
  }, []);
  return { attach, look, below, unread: below && read !== text };
}
