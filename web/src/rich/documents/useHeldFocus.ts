import { useCallback, useEffect, useRef, useState, type RefObject } from "react";

/** Milliseconds between two looks. A page without the focus hears nothing when a frame takes it. */
const LOOK = 200;

interface HeldFocus {
  /** The person has opened the frame or clicked into it: keys are for it. */
  entered: boolean;
  enter: () => void;
}

/** Keeps the focus, and with it what the person types, out of a frame that they have left. The frame has the focus when it is
 * opened, because the person wants to use it. One that takes it again later is stopped at once: if two fields of two frames
 * claim the focus in turn, Chromium shows it in one and gives the keys to the other. */
export function useHeldFocus(frame: RefObject<HTMLIFrameElement | null>, onGrab: () => void): HeldFocus {
  const [entered, setEntered] = useState(true);
  const inside = useRef(true);
  const put = useCallback((value: boolean) => {
    inside.current = value;
    setEntered(value);
  }, []);
  const enter = useCallback(() => {
    put(true);
    frame.current?.focus();
  }, [frame, put]);

  useEffect(() => {
    let last: Element | null = document.activeElement;
    frame.current?.focus();
    const look = (): void => {
      const element = frame.current;
      if (!element || document.activeElement !== element || inside.current) return;
      element.blur();
      if (last instanceof HTMLElement && last.isConnected && last !== element) last.focus({ preventScroll: true });
      else window.focus();
      onGrab();
    };
    // The focus or the pointer is on the page again: the frame has been left.
    const left = (event: Event): void => {
      if (event.target === frame.current) return;
      if (event.type === "focusin" && event.target instanceof Element) last = event.target;
      if (inside.current && document.activeElement !== frame.current) put(false);
    };
    const pressed = (event: Event): void => {
      if (inside.current && event.target !== frame.current) put(false);
    };
    const timer = setInterval(look, LOOK);
    addEventListener("blur", look);
    document.addEventListener("focusin", left);
    document.addEventListener("pointerdown", pressed, true);
    return () => {
      clearInterval(timer);
      removeEventListener("blur", look);
      document.removeEventListener("focusin", left);
      document.removeEventListener("pointerdown", pressed, true);
    };
  }, [frame, onGrab, put]);
  return { entered, enter };
}
