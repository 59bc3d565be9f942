import { useMemo } from "react";

import { useWords } from "../../words/words";
import { Counts, lastBreaks } from "../diff/Diff";
import { folded } from "../diff/folds";
import { difference } from "../diff/rows";
import { Rows, type DiffMode } from "../diff/Rows";

interface ChangesProps {
  before: string;
  after: string;
  /** The heads of the two columns. */
  names: readonly [before: string, after: string];
  mode: DiffMode;
}

/** What changed between two versions. */
export function Changes({ before, after, names, mode }: ChangesProps) {
  const { say } = useWords();
  const found = useMemo(() => difference(before, after), [before, after]);
  const parts = useMemo(() => folded(found.rows), [found]);
  const breaks = lastBreaks(before, after);
  if (found.added + found.removed === 0 && breaks === null) return <p className="quiet told">{say("noChanges")}</p>;
  return (
    <div className={mode === "split" ? "pair" : "one"}>
      {mode === "split" ? (
        <>
          <div className="hd">{names[0]}</div>
          <div className="hd">
            {names[1]} &nbsp;
            <Counts added={found.added} removed={found.removed} />
          </div>
        </>
      ) : null}
      <Rows parts={parts} mode={mode} />
      {breaks ? <div className="skip">{say(breaks)}</div> : null}
    </div>
  );
}
