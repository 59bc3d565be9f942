import { useEffect } from "react";

import { EMPTY } from "../log/turn";
import { begunSince } from "../log/written";
import { useThread, type Thread } from "../state/thread";
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
  useEffect(() => {
    offer(null, useThread.getState(), narrow);
    return useThread.subscribe((now, before) => offer(before, now, narrow));
  }, [narrow]);
}

function offer(before: Thread | null, now: Thread, narrow: boolean): void {
  const last = now.entries.at(-1);
  const old = before?.entries.at(-1);
  if (!last || (before && last === old)) return;
  const same = old?.turn.id === last.turn.id;
  if (before && !same) letOpen();
  // The answer to what was sent from here is new to this page, however far it is.
  const known = same ? old.log : before?.id === now.id && before.sending ? EMPTY : null;
  const begun = begunSince(known, last.log);
  if (begun !== null && !narrow) offerDocument(begun);
}
