import { useEffect, useMemo } from "react";

import { useWords } from "../../words/words";
import { Shown } from "../Shown";
import { useReading } from "../useReading";
import { folded } from "./folds";
import { difference } from "./rows";
import { Rows, type DiffMode } from "./Rows";

export interface DiffProps {
  before: string;
  after: string;
  path: string;
  mode?: DiffMode;
  /** Is told whether the person has yet to see the end of it. Unchanged lines may stay folded. */
  onUnread?: (unread: boolean) => void;
}

/** What becomes of a file, in a frame with its name. */
export function Diff({ before, after, path, mode = "inline", onUnread }: DiffProps) {
  const { say } = useWords();
  const found = useMemo(() => difference(before, after), [before, after]);
  const parts = useMemo(() => folded(found.rows), [found]);
  const breaks = lastBreaks(before, after);
  const { attach, look, below, unread } = useReading(after);
  useEffect(() => onUnread?.(unread), [onUnread, unread]);
  return (
    <div className="diff">
      <header>
        <span className="path">
          <Shown text={path} />
        </span>
        <span className="grow" />
        <Counts added={found.added} removed={found.removed} />
      </header>
      {/* A person who uses the keyboard scrolls it. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div ref={attach} onScroll={look} className={mode === "split" ? "lines pair" : "lines"} tabIndex={0} role="group" aria-label={say("changes")}>
        <Rows parts={parts} mode={mode} />
        {breaks ? <div className="skip">{say(breaks)}</div> : null}
      </div>
      {onUnread && below ? <p className="below">{say("moreBelow")}</p> : null}
    </div>
  );
}

export function Counts({ added, removed }: { added: number; removed: number }) {
  const { count } = useWords();
  return (
    <>
      <span className="plus">+{count(added)}</span> <span className="minus">−{count(removed)}</span>
    </>
  );
}

/** A line break at the end is all that may differ. */
export function lastBreaks(before: string, after: string): "breakAdded" | "breakRemoved" | null {
  if (before === "" || after === "" || before.endsWith("\n") === after.endsWith("\n")) return null;
  return after.endsWith("\n") ? "breakAdded" : "breakRemoved";
}
