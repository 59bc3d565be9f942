import { useId, type ReactNode } from "react";

import { useWords } from "../../words/words";
import { keyName } from "../keys";
import { useSettledCard } from "./useSettled";

interface AnswerButtonProps {
  disabled: boolean;
  /** It says yes to what is shown: all of it must have been read. */
  reads?: boolean;
  onAnswer: () => void;
  children: ReactNode;
}

/** The button that answers a question, also by ⌘↵. It does nothing before the person can have seen what it is about, and takes only the
 * first click of several. */
export function AnswerButton({ disabled, reads = false, onAnswer, children }: AnswerButtonProps) {
  const { say } = useWords();
  const { ready, unread, allows } = useSettledCard();
  const why = useId();
  const blocked = reads && unread;
  return (
    <>
      <button
        type="button"
        className="btn primary"
        data-primary
        disabled={disabled}
        aria-disabled={blocked || !ready ? true : undefined}
        aria-describedby={blocked ? why : undefined}
        data-blocked={blocked ? true : undefined}
        onClick={(event) => {
          if (event.detail <= 1 && !blocked && allows()) onAnswer();
        }}
      >
        <span>{children}</span>
        <kbd aria-hidden="true">{keyName("⌘", "↵")}</kbd>
      </button>
      {blocked ? (
        <span id={why} className="quiet read-first">
          {say("readFirst")}
        </span>
      ) : null}
    </>
  );
}
