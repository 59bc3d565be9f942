import { memo, useEffect } from "react";

import type { ReadMark } from "../state/reading";
import type { Entry } from "../state/thread";
import { learnVersions, useVersions } from "../state/versions";
import { useWords } from "../words/words";
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
  /** The model is shown the conversation from here on. */
  begins: boolean;
}

/** One turn: what the person said, and the answer. Drawn again only when something in it changed. */
export const Leaf = memo(function Leaf({ entry, last, editing, mark, aside, begins }: LeafProps) {
  const { say } = useWords();
  const versions = useVersions(entry);
  useEffect(() => {
    void learnVersions(entry);
    // Only the ids matter: an answer that grows has the same versions.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [entry.turn.id, entry.turn.siblings?.length]);
  return (
    <div className={`leaf${last ? " last" : ""}${aside || editing ? " aside" : ""}`} data-turn={entry.turn.id}>
      {begins ? (
        <p className="note hair" data-begins>
          <span>{say("modelReads")}</span>
        </p>
      ) : null}
      {mark?.messages === -1 ? <Mark at={mark.at} /> : null}
      <Said entry={entry} editing={editing} versions={versions.messages} last={false} />
      <Answer entry={entry} last={last} versions={versions.answers} mark={mark} />
    </div>
  );
});
