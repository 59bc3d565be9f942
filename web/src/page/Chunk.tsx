import { memo, useEffect, useLayoutEffect, useRef, useState, type RefObject } from "react";

import type { ReadMark } from "../state/reading";
import type { Entry } from "../state/thread";
import { Leaf } from "./Leaf";

/** Turns that are drawn, or left out, together. */
const SIZE = 16;
/** What is nearer than this to the screen is drawn. */
const NEAR = "1600px 0px";
/** Up to so many turns stay in the document when they are far away: the browser does not draw them, but finds their words. */
export const FINDABLE = 400;

export interface ChunkData {
  key: number;
  entries: Entry[];
}

/** The turns in groups. A turn stays in its group when older turns come before it. */
export function chunks(entries: readonly Entry[]): ChunkData[] {
  const found: ChunkData[] = [];
  for (const entry of entries) {
    const key = Math.floor(entry.turn.ordinal / SIZE);
    const last = found.at(-1);
    if (last?.key === key) last.entries.push(entry);
    else found.push({ key, entries: [entry] });
  }
  return found;
}

interface ChunkProps {
  entries: Entry[];
  /** The newest turn, while nothing is being sent: it has more buttons, and is never left out. */
  last: string | null;
  editing: string | null;
  /** Turns with a greater ordinal come after a message that is being edited. */
  editedOrdinal: number;
  mark: ReadMark | null;
  /** The first turn that the model is shown, if not all. */
  begins: string | null;
  /** Whether it stays in the document when it is far away. */
  findable: boolean;
  scroller: RefObject<HTMLDivElement | null>;
}

/** Far from the screen, a group of turns is not drawn: in a long conversation it is only as high as it was. */
export const Chunk = memo(function Chunk({ entries, last, editing, editedOrdinal, mark, begins, findable, scroller }: ChunkProps) {
  const box = useRef<HTMLDivElement>(null);
  const [height, setHeight] = useState<number | null>(null);
  const held = entries.some((entry) => entry.turn.id === last || entry.turn.id === editing || entry.turn.id === mark?.turn);
  const away = height !== null && !held;

  useEffect(() => {
    const element = box.current;
    if (!element || held || typeof IntersectionObserver === "undefined") return;
    const watcher = new IntersectionObserver(
      (seen) => {
        const now = seen.at(-1);
        if (now) setHeight((before) => (now.isIntersecting ? null : (before ?? element.offsetHeight)));
      },
      { root: scroller.current, rootMargin: NEAR },
    );
    watcher.observe(element);
    return () => watcher.disconnect();
    // A new watcher tells where the group is. The old one is silent about a group that grew and stayed far away.
  }, [held, scroller, entries.length]);

  // Turns that come into a group change its height: it is drawn once, to be measured again.
  const count = useRef(entries.length);
  useLayoutEffect(() => {
    if (count.current !== entries.length) setHeight(null);
    count.current = entries.length;
  }, [entries.length]);

  return (
    <div ref={box} className="chunk" style={away ? (findable ? { contentVisibility: "auto", containIntrinsicBlockSize: `${height}px` } : { height }) : undefined}>
      {away && !findable
        ? null
        : entries.map((entry) => (
            <Leaf
              key={entry.turn.id}
              entry={entry}
              last={entry.turn.id === last}
              editing={entry.turn.id === editing}
              aside={editing !== null && entry.turn.ordinal > editedOrdinal}
              mark={mark?.turn === entry.turn.id ? mark : null}
              begins={entry.turn.id === begins}
            />
          ))}
    </div>
  );
}, same);

function same(before: ChunkProps, after: ChunkProps): boolean {
  const { entries } = after;
  return (
    before.entries.length === entries.length &&
    before.entries.every((entry, index) => entry === entries[index]) &&
    before.editing === after.editing &&
    before.findable === after.findable &&
    before.mark === after.mark &&
    unmoved(before.begins, after.begins, entries) &&
    unmoved(before.last, after.last, entries)
  );
}

/** Whether what moved from one turn to another is of no concern to these. */
function unmoved(before: string | null, after: string | null, entries: Entry[]): boolean {
  return before === after || !entries.some((entry) => entry.turn.id === before || entry.turn.id === after);
}
