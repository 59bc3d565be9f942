import { useId, type ReactNode } from "react";

import { useWords } from "../../words/words";
import { keyName } from "../keys";
import { useSettledCard } from "./useSettled";

interface AnswerButtonProps {
  /** The main answer has the key ⌘↵; another one refuses. */
  kind: "primary" | "refuse";
  className?: string;
  disabled: boolean;
  /** It says yes to what is shown: all of it must have been read. */
  reads?: boolean;
  onAnswer: () => void;
  children: ReactNode;
}

/** A button that answers a question. It does nothing before the person can have seen what it is about, and takes only the
 * first click of several. */
export function AnswerButton({ kind, className = "", disabled, reads = false, onAnswer, children }: AnswerButtonProps) {
  const { say } = useWords();
  const { ready, unread, allows } = useSettledCard();
  const why = useId();
  const blocked = reads && unread;
  return (
    <>
      <button
        type="button"
        className={kind === "primary" ? `btn primary ${className}` : `btn ${className}`}
        data-primary={kind === "primary" ? true : undefined}
        data-refuse={kind === "refuse" ? true : undefined}
        disabled={disabled}
        aria-disabled={blocked || !ready ? true : undefined}
        aria-describedby={blocked ? why : undefined}
        data-blocked={blocked ? true : undefined}
        onClick={(event) => {
          if (event.detail <= 1 && !blocked && allows()) onAnswer();
        }}
      >
        <span>{children}</span>
        {kind === "primary" ? <kbd aria-hidden="true">{keyName("⌘", "↵")}</kbd> : null}
      </button>
      {blocked ? (
        <span id={why} className="quiet read-first">
          {say("readFirst")}
        </span>
      ) : null}
    </>
  );
}
