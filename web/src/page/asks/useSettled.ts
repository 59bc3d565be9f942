// Nothing is answered unseen: when a question can be answered, and which of its texts were not read to the end.
import { createContext, useCallback, useContext, useEffect, useMemo, useRef, useState, type RefObject } from "react";

import { GUARD } from "./moment";

/** Milliseconds between two looks at where a question is that can be answered. Before that it is looked at in every frame. */
const LOOK = 100;
/** Pixels: a button that moves further is at another place. */
const STIR = 8;
/** Milliseconds: what moves so soon after the person has scrolled or written was moved by them. */
const OWN = 250;

export interface Settled {
  /** It has been seen in its present place for long enough. */
  ready: boolean;
  /** A text of it was not read to its end. */
  unread: boolean;
  /** Whether an answer may be given at this very moment. */
  allows: () => boolean;
  /** Notes whether the text with this id must still be read. */
  note: (id: string, unread: boolean) => void;
}

export const SettledContext = createContext<Settled>({ ready: true, unread: false, allows: () => true, note: () => undefined });
export const useSettledCard = (): Settled => useContext(SettledContext);

interface Spot {
  top: number;
  left: number;
}

/** Where the button is that answers; null while it cannot be seen. */
function spotOf(card: HTMLElement | null): Spot | null {
  const button = card?.querySelector("[data-primary]");
  if (!button || document.hidden) return null;
  const { top, bottom, left } = button.getBoundingClientRect();
  return bottom < 0 || top > innerHeight ? null : { top, left };
}

const moved = (one: Spot, other: Spot): boolean => Math.abs(one.top - other.top) > STIR || Math.abs(one.left - other.left) > STIR;

/** Watches a question that is unfolded. The time begins when it was painted, and again whenever it has moved, or the window was entered. */
export function useSettled(card: RefObject<HTMLElement | null>, open: boolean): Settled {
  const [ready, setReady] = useState(false);
  const [texts, setTexts] = useState<ReadonlySet<string>>(new Set());
  const spot = useRef<Spot | null>(null);
  const settled = useRef(false);

  useEffect(() => {
    const element = card.current;
    if (!open || !element) return;
    let since = 0;
    let own = -OWN;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const measure = (): void => {
      const now = performance.now();
      const found = spotOf(element);
      const before = spot.current;
      if (!found || !before || (moved(found, before) && now - own > OWN)) since = now;
      spot.current = found;
      settled.current = found !== null && now - since >= GUARD;
    };
    const look = (): void => {
      measure();
      setReady(settled.current);
      if (settled.current) timer = setTimeout(look, LOOK);
      else frame = requestAnimationFrame(look);
    };
    // Nothing may be drawn here: a field that is drawn before its own event is handled loses what was typed.
    const byPerson = (): void => {
      measure();
      own = performance.now();
    };
    // A window that lay over the page may have vanished under the person's finger: the next click or key was meant for that one.
    const entered = (): void => {
      settled.current = false;
      spot.current = null;
      clearTimeout(timer);
      cancelAnimationFrame(frame);
      begin();
    };
    let frame = 0;
    // The first frame paints it, the second comes after that.
    const begin = (): void => {
      frame = requestAnimationFrame(() => {
        frame = requestAnimationFrame(look);
      });
    };
    begin();
    addEventListener("focus", entered);
    addEventListener("pageshow", entered);
    document.addEventListener("visibilitychange", entered);
    addEventListener("wheel", byPerson, { passive: true });
    addEventListener("touchmove", byPerson, { passive: true });
    element.addEventListener("input", byPerson);
    element.addEventListener("pointerdown", byPerson);
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
      removeEventListener("focus", entered);
      removeEventListener("pageshow", entered);
      document.removeEventListener("visibilitychange", entered);
      removeEventListener("wheel", byPerson);
      removeEventListener("touchmove", byPerson);
      element.removeEventListener("input", byPerson);
      element.removeEventListener("pointerdown", byPerson);
      spot.current = null;
      settled.current = false;
      setReady(false);
    };
  }, [card, open]);

  const allows = useCallback(() => {
    const now = spotOf(card.current);
    return settled.current && now !== null && spot.current !== null && !moved(now, spot.current);
  }, [card]);
  const note = useCallback((id: string, unread: boolean) => {
    setTexts((all) => {
      if (all.has(id) === unread) return all;
      const next = new Set(all);
      if (unread) next.add(id);
      else next.delete(id);
      return next;
    });
  }, []);
  const unread = texts.size > 0;
  return useMemo(() => ({ ready, unread, allows, note }), [ready, unread, allows, note]);
}
