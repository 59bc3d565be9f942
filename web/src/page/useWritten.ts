import { useEffect } from "react";

import { beingWritten } from "../log/written";
import { useThread } from "../state/thread";
import { letOpen, offerDocument } from "../state/view";
import { NARROW, useMedia } from "./useMedia";

/** The same as a part of the page, which the first paint does not need. */
export function Written(): null {
  useWritten();
  return null;
}

/** Where there is room for it, a document opens when an agent begins to write it. The focus stays where it is. Elsewhere a
 * chip below the answer offers it. */
export function useWritten(): void {
  const narrow = useMedia(NARROW);
  const turn = useThread((state) => state.entries.at(-1)?.turn.id);
  const begun = useThread((state) => {
    const log = state.entries.at(-1)?.log;
    return log ? beingWritten(log) : null;
  });
  useEffect(letOpen, [turn]);
  useEffect(() => {
    if (begun !== null && !narrow) offerDocument(begun);
  }, [begun, narrow, turn]);
}
