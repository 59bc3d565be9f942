import { memo, useEffect } from "react";

import type { ReadMark } from "../state/reading";
import type { Entry } from "../state/thread";
import { learnVersions, useVersions } from "../state/versions";
import { Answer } from "./Answer";
import { Mark } from "./Note";
import { Said } from "./Said";

interface LeafProps {
  entry: Entry;
  last: boolean;
  editing: boolean;
  /** Where the person left, if it was in this turn. */
  mark: ReadMark | null;
  /** What comes after a message that is being edited. */
  aside: boolean;
}

/** One turn: what the person said, and the answer. Drawn again only when something in it changed. */
export const Leaf = memo(function Leaf({ entry, last, editing, mark, aside }: LeafProps) {
  const versions = useVersions(entry);
  useEffect(() => {
    void learnVersions(entry);
    // Only the ids matter: an answer that grows has the same versions.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [entry.turn.id, entry.turn.siblings?.length]);
  return (
    <div className={`leaf${last ? " last" : ""}${aside || editing ? " aside" : ""}`} data-turn={entry.turn.id}>
      {mark?.messages === -1 ? <Mark at={mark.at} /> : null}
      <Said entry={entry} editing={editing} versions={versions.messages} last={false} />
      <Answer entry={entry} last={last} versions={versions.answers} mark={mark} />
    </div>
  );
});
