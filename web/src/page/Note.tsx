import type { Note as NoteData } from "../api/types";
import type { ClosedAsk } from "../log/turn";
import { useAnswers } from "../state/answers";
import { useWords, type Key } from "../words/words";
import { ClosedCard } from "./asks/ClosedCard";
import { Bars, Icon } from "./Icon";

const OUTCOMES: Record<string, Key> = {
  approve: "pausedApproved",
  edit: "pausedEdited",
  reject: "pausedRefused",
  respond: "pausedAnswered",
  answers: "pausedAnswered",
  fields: "pausedAnswered",
  value: "pausedAnswered",
  answered: "pausedAnswered",
  expired: "pausedExpired",
  superseded: "pausedClosed",
  cancelled: "pausedClosed",
};

interface NoteProps {
  note: NoteData;
  closed: ClosedAsk | null;
  /** Asks once more, if this is the question whose time ran out and with which the turn ended. */
  again?: (() => void) | undefined;
}

/** Something that hangs on the rail: a pause that is over, a restart, an earlier end. */
export function Note({ note, closed, again }: NoteProps) {
  const { say, clock, span } = useWords();
  const given = useAnswers((state) => (note.interrupt_id ? state[note.interrupt_id] : undefined));
  // A pause is told by its end: when it was answered, or ran out.
  const at = note.at === null ? null : note.at + (note.ms ?? 0);
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
        <span>{say(note.kind === "failed" ? "failedHere" : "youStopped")}</span>
        {time}
      </p>
    );
  if (note.outcome === "expired" || given?.phase === "elsewhere") {
    return <ClosedCard id={note.interrupt_id} interrupt={closed?.interrupt ?? null} expired={note.outcome === "expired"} decision={note.outcome} at={at} again={note.outcome === "expired" ? again : undefined} />;
  }
  const key = OUTCOMES[note.outcome ?? ""] ?? "pausedAnswered";
  return (
    <p className="note">
      <span className="at">
        <Bars />
      </span>
      <span>{say(key, note.ms === null ? "" : span(Math.max(1000, Math.round(note.ms / 1000) * 1000)))}</span>
      {time}
    </p>
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
