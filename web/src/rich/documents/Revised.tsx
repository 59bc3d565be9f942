import type { Revision } from "../../log/revision";
import type { Update } from "../../log/written";
import { useWords } from "../../words/words";
import { AsIs } from "../AsIs";

interface RevisedProps {
  text: string;
  /** The place of the update in the text; null if it is not known yet. */
  revision: Revision | null;
  update: Update;
}

/** A document while a part of it is replaced: its source, with what goes and what comes. */
export function Revised({ text, revision, update }: RevisedProps) {
  const { say } = useWords();
  if (revision)
    return (
      <div className="as-is revised">
        <AsIs text={revision.before} />
        <Mark old={revision.old} next={revision.new} />
        <AsIs text={revision.after} />
      </div>
    );
  return (
    <>
      {update.whole ? (
        <div className="as-is revised apart">
          <p className="quiet">{say("placeUnknown")}</p>
          <Mark old={update.old} next={update.new} />
        </div>
      ) : null}
      <div className="as-is"><AsIs text={text} /></div>
    </>
  );
}

function Mark({ old, next }: { old: string; next: string | null }) {
  return (
    <>
      <del><AsIs text={old} /></del>
      {next === null ? null : <ins><AsIs text={next} /></ins>}
    </>
  );
}
