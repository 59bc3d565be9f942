import { useEffect, useId, useState, type ReactNode } from "react";

import { announce } from "../../state/announce";
import { useWords } from "../../words/words";
import { keyName } from "../keys";
import { TOLD } from "./moment";
import { useSettledCard } from "./useSettled";

interface AnswerButtonProps {
  disabled: boolean;
  /** It says yes to what is shown: all of it must have been read. */
  reads?: boolean;
  onAnswer: () => void;
  children: ReactNode;
}

/** The button that answers a question, also by ⌘↵. It does nothing before the person can have seen what it is about, and takes only the
 * first click of several. Whoever presses it too soon is asked to press again. */
export function AnswerButton({ disabled, reads = false, onAnswer, children }: AnswerButtonProps) {
  const { say } = useWords();
  const { ready, unread, allows } = useSettledCard();
  const why = useId();
  const blocked = reads && unread;
  const [hasty, setHasty] = useState(0);
  useEffect(() => {
    if (hasty === 0) return;
    const timer = setTimeout(() => setHasty(0), TOLD);
    return () => clearTimeout(timer);
  }, [hasty]);
  const press = (): void => {
    if (allows()) {
      onAnswer();
      return;
    }
    setHasty((times) => times + 1);
    announce(say("pressAgain"));
  };
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
          if (event.detail <= 1 && !blocked) press();
        }}
      >
        <span>{children}</span>
        <kbd aria-hidden="true">{keyName("⌘", "↵")}</kbd>
        {hasty > 0 && !disabled ? (
          <span className="too-soon" aria-hidden="true">
            {say("pressAgain")}
          </span>
        ) : null}
      </button>
      {blocked ? (
        <span id={why} className="quiet read-first">
          {say("readFirst")}
        </span>
      ) : null}
    </>
  );
}
