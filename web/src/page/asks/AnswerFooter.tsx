import type { ReactNode } from "react";

import { useWords, type Key } from "../../words/words";
import { AnswerButton } from "./AnswerButton";
import { Footer, type Place } from "./parts";

interface AnswerFooterProps {
  place: Place;
  busy: boolean;
  /** What the buttons say: to send the answer, and to give none, if that is allowed. */
  yes: Key;
  no: Key | null;
  onSend: () => void;
  /** Opens the step that refuses. */
  onRefuse: () => void;
  /** Giving no answer is nothing to draw attention to. */
  quiet?: boolean;
  /** Long words of the question must have been read to their end. */
  reads?: boolean;
  children?: ReactNode;
}

/** The end of a question that has one answer or none. */
export function AnswerFooter({ place, busy, yes, no, onSend, onRefuse, quiet = false, reads = false, children }: AnswerFooterProps) {
  const { say } = useWords();
  return (
    <Footer place={place}>
      <AnswerButton disabled={busy} reads={reads} onAnswer={onSend}>
        {say(yes)}
      </AnswerButton>
      {no === null ? null : (
        <button type="button" className={quiet ? "btn bare" : "btn"} data-refuse disabled={busy} onClick={onRefuse}>
          {say(no)}
        </button>
      )}
      <span className="grow" />
      {children}
    </Footer>
  );
}
