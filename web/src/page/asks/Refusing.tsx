import { useEffect, useRef, useState, type MouseEvent, type ReactNode } from "react";

import type { NewAnswer } from "../../api/types";
import { useWords } from "../../words/words";
import { AnswerButton } from "./AnswerButton";
import { Body, Footer, Refusal, type Place } from "./parts";

interface RefusingProps {
  place: Place;
  /** What would be refused, in short. */
  what: ReactNode;
  /** The words of the button that refuses. */
  label: string;
  busy: boolean;
  fault: string;
  give: (answer: NewAnswer) => void;
  onBack: () => void;
}

/** The step before a refusal: nothing is refused by one key or one click. */
export function Refusing({ place, what, label, busy, fault, give, onBack }: RefusingProps) {
  const { say } = useWords();
  const [reason, setReason] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const message = reason.trim();
  return (
    <>
      <Body place={place} qs>
        {what}
        <label className="field">
          <span className="quiet light">{say("refuseWhy")}</span>
          <textarea ref={field} className="input" rows={2} value={reason} onChange={(event) => setReason(event.target.value)} />
        </label>
        <Refusal text={fault} />
      </Body>
      <Footer place={place}>
        <AnswerButton disabled={busy} onAnswer={() => give({ decision: "reject", ...(message ? { message } : {}) })}>
          {label}
        </AnswerButton>
        <button type="button" className="btn bare" data-back onClick={(event) => goBack(event, onBack)}>
          {say("back")}
        </button>
      </Footer>
    </>
  );
}

/** Leaves a step of a question: the focus stays with the question. */
export function goBack(event: MouseEvent<HTMLElement>, back: () => void): void {
  event.currentTarget.closest<HTMLElement>("[data-ask]")?.focus({ preventScroll: true });
  back();
}
