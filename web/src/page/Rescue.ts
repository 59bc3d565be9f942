// A control that vanishes takes the focus with it. Then the focus goes where the person goes on.
import { useEffect } from "react";

import { isLeaving } from "./asks/hold";
import { focusBox, focusRow } from "./places";

interface Held {
  element: HTMLElement;
  /** The question of which it is a part. */
  card: HTMLElement | null;
  area: "side" | "panel" | "page";
}

function areaOf(element: HTMLElement): Held["area"] {
  return element.closest(".side") ? "side" : element.closest(".panel") ? "panel" : "page";
}

const holdOf = (element: HTMLElement): Held => ({ element, card: element.closest<HTMLElement>("[data-ask], [data-card]"), area: areaOf(element) });

/** Whether the element is gone, or can have the focus no longer. */
const isLost = (element: HTMLElement): boolean => !element.isConnected || element.matches(":disabled");

function rescue({ area, card }: Held): void {
  if (card && isLeaving(card)) {
    card.focus({ preventScroll: true });
    return;
  }
  if (area === "side" && focusRow()) return;
  const documents = area === "panel" ? document.getElementById("docs") : null;
  if (documents) documents.focus({ preventScroll: true });
  else focusBox();
}

/** The same as a part of the page, which the first paint does not need. */
export function Rescue(): null {
  useRescue();
  return null;
}

/** Watches over the focus of the whole page. */
export function useRescue(): void {
  useEffect(() => {
    let held: Held | null = null;
    const focused = (event: FocusEvent): void => {
      if (event.target instanceof HTMLElement && event.target !== document.body) held = holdOf(event.target);
    };
    // Who clicks beside all controls wants none of them.
    const pressed = (): void => {
      held = null;
    };
    const look = (): void => {
      if (!held || !isLost(held.element)) return;
      const lost = held;
      held = null;
      // What takes its place may take the focus by itself.
      setTimeout(() => {
        const now = document.activeElement;
        if (now === null || now === document.body || now === lost.element) rescue(lost);
      }, 0);
    };
    document.addEventListener("focusin", focused);
    document.addEventListener("pointerdown", pressed, true);
    const watcher = new MutationObserver(look);
    watcher.observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ["disabled"] });
    return () => {
      document.removeEventListener("focusin", focused);
      document.removeEventListener("pointerdown", pressed, true);
      watcher.disconnect();
    };
  }, []);
}
