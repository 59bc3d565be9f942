import { useEffect, useState } from "react";

import { waiting } from "./asks/focus";
import { GUARD } from "./asks/moment";

/** Milliseconds after which a question that is not drawn is not waited for. */
const PATIENCE = 5000;

interface Scene {
  /** The place whose box this is. */
  place: string | null;
  /** Nothing can be sent. */
  busy: boolean;
  /** The ids of the questions that wait for the person, between blanks. One that they have answered ends with "!". */
  asked: string;
}

/** Whether what a message would do has changed so lately that a key or a click now may be meant for what was there before: something was not
 * sent until now, or would not have refused this question. */
export function useLately({ place, busy, asked }: Scene): boolean {
  const [before, setBefore] = useState<Scene>({ place, busy, asked: "" });
  const [changes, setChanges] = useState(0);
  const [over, setOver] = useState(0);
  if (before.place !== place || before.busy !== busy || before.asked !== asked) {
    setBefore({ place, busy, asked });
    const known = before.asked.split(" ");
    const freed = before.busy && !busy && before.place === place;
    if (freed || asked.split(" ").some((word) => word !== "" && !known.includes(word))) setChanges(changes + 1);
  }
  useEffect(() => {
    if (changes === over) return;
    const until = performance.now() + PATIENCE;
    let timer: ReturnType<typeof setTimeout> | undefined;
    // The first frame paints the change, the second comes after that.
    const begin = (): void => {
      timer = setTimeout(() => setOver(changes), GUARD);
    };
    const look = (): void => {
      frame = requestAnimationFrame(isDrawn(asked) || performance.now() > until ? begin : look);
    };
    let frame = requestAnimationFrame(look);
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    };
  }, [changes, over, asked]);
  return changes !== over;
}

/** Whether all open questions are on the page. The part of it that draws them may have to be loaded. */
function isDrawn(asked: string): boolean {
  const drawn = new Set(waiting().map((ask) => ask.dataset.ask));
  return asked.split(" ").every((word) => word === "" || word.endsWith("!") || drawn.has(word));
}
