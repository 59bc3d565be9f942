import type { Note as NoteData } from "../api/types";
import type { Answered } from "../log/blocks";
import { useAnswers } from "../state/answers";
import { failureTitle } from "../words/faults";
import { useWords } from "../words/words";
import { ClosedCard } from "./asks/ClosedCard";
import { Bars, Icon } from "./Icon";
import { pauseText } from "./pauses";

interface NoteProps {
  note: NoteData;
  /** The questions of a pause. */
  pauses: readonly Answered[];
  /** Asks once more, if this is the question whose time ran out and with which the turn ended. */
  again?: (() => void) | undefined;
}

/** Something that hangs on the rail: a pause that is over, a restart, an earlier end. */
export function Note({ note, pauses, again }: NoteProps) {
  const words = useWords();
  const { say, clock } = words;
  // A pause is told by its end: when it was answered, or ran out.
  const at = note.at === null ? null : note.at + (note.kind === "pause" ? (note.ms ?? 0) : 0);
  const time = at === null ? null : <time>{clock(at)}</time>;
  if (note.kind === "restart")
    return (
      <p className="note hair">
        <span>{say("restarted")}</span>
        {time}
      </p>
    );
  if (note.kind !== "pause")
    return (
      <p className="note">
        <span className="at">{note.kind === "failed" ? <Icon name="cross" small /> : <Bars />}</span>
        <span>{note.kind === "failed" ? failureTitle(note.outcome, note.message, words) : say("youStopped")}</span>
        {time}
      </p>
    );
  return <Pause pauses={pauses} at={at} again={again} />;
}

/** A pause that is over. A question that was not answered from here has a card, the others share a line. */
function Pause({ pauses, at, again }: { pauses: readonly Answered[]; at: number | null; again: NoteProps["again"] }) {
  const words = useWords();
  const answers = useAnswers();
  const isCard = ({ note }: Answered): boolean => note.outcome === "expired" || (note.interrupt_id !== null && answers[note.interrupt_id]?.phase === "elsewhere");
  const cards = pauses.filter(isCard);
  const told = pauses.filter((item) => !isCard(item));
  // Questions that ran out together are one card.
  const shown = cards.filter((item, index) => item.note.outcome !== "expired" || cards.findIndex((other) => other.note.outcome === "expired") === index);
  return (
    <>
      {shown.map(({ note, closed }) => {
        const expired = note.outcome === "expired";
        return <ClosedCard key={note.interrupt_id} id={note.interrupt_id} interrupt={closed?.interrupt ?? null} expired={expired} decision={note.outcome} at={at} again={expired ? again : undefined} />;
      })}
      {told.length > 0 ? (
        <p className="note">
          <span className="at">
            <Bars />
          </span>
          <span>{pauseText(told, words)}</span>
          {at === null ? null : <time>{words.clock(at)}</time>}
        </p>
      ) : null}
    </>
  );
}

/** Where the person had read to when they left. */
export function Mark({ at }: { at: number }) {
  const { say, clock } = useWords();
  return (
    <p className="note mine" id="left-here">
      <span className="at">
        <Icon name="flag" />
      </span>
      <b>{say("awayHere")}</b>
      <span>{say("awayNew", clock(at))}</span>
    </p>
  );
}
