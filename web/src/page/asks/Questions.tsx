import { useId, useState, type ReactNode } from "react";

import type { Interrupt, Question } from "../../api/types";
import { shown } from "../../log/shown";
import { useTyped } from "../../state/typed";
import { Phrase } from "../../words/Phrase";
import { useWords } from "../../words/words";
import { PHONE, useMedia } from "../useMedia";
import { AnswerFooter } from "./AnswerFooter";
import { leaveOwn } from "./leaveOwn";
import { Body, Refusal, type Place } from "./parts";
import { Refusing } from "./Refusing";
import { useGive } from "./useGive";
import { Words } from "./Words";

interface Choice {
  /** The number of the chosen option, or null. */
  option: number | null;
  own: string;
}

function isChoices(kept: unknown, count: number): boolean {
  const isOne = (item: Partial<Choice> | null): boolean => typeof item?.own === "string" && (item.option === null || typeof item.option === "number");
  return Array.isArray(kept) && kept.length === count && (kept as (Partial<Choice> | null)[]).every(isOne);
}

/** The answer that a choice stands for; empty while there is none. */
function answerOf(question: Question, { option, own }: Choice): string {
  const { options = [] } = question;
  if (options.length === 0) return own.trim();
  const chosen = option === null ? undefined : options[option];
  if (!chosen) return "";
  return chosen.allow_custom ? own.trim() : chosen.value;
}

/** Whether a label says what is sent. Only capitals, outer blanks and what joins two words may differ: `after_review` is "After review". */
function tells(label: string, value: string): boolean {
  const plain = (text: string): string => text.trim().toLowerCase().replace(/(?<=\p{L})[ _-]+(?=\p{L})/gu, " ");
  return plain(label) === plain(value);
}

export function Questions({ interrupt, place, more }: { interrupt: Interrupt; place: Place; more?: ReactNode }) {
  const { say } = useWords();
  const { questions } = interrupt;
  const { give, busy, fault } = useGive(interrupt.id);
  const none = questions.map((): Choice => ({ option: null, own: "" }));
  const [choices, setChoices] = useTyped(interrupt.id, "choices", none, (kept) => isChoices(kept, questions.length));
  const [missing, setMissing] = useState<number | null>(null);
  const [refusing, setRefusing] = useState(false);
  const base = useId();
  const answers = questions.map((question, index) => answerOf(question, choices[index] as Choice));
  const done = answers.filter(Boolean).length;

  const choose = (index: number, choice: Partial<Choice>): void => {
    setChoices((all) => all.map((item, at) => (at === index ? { ...item, ...choice } : item)));
    setMissing(null);
  };
  const send = (): void => {
    const first = answers.findIndex((answer) => !answer);
    if (first < 0) {
      give({ decision: "answers", answers });
      return;
    }
    setMissing(first);
    const set = document.getElementById(`${base}-${first}`);
    set?.scrollIntoView({ block: "nearest" });
    (set?.querySelector<HTMLElement>("input:checked ~ .own") ?? set?.querySelector<HTMLElement>("input, textarea"))?.focus();
  };

  if (refusing) {
    const what = questions.map((question, index) => (
      <div key={index} className="plain">
        <Words text={question.question} />
      </div>
    ));
    return <Refusing place={place} what={what} label={say("dontAnswer")} busy={busy} fault={fault} give={give} onBack={() => setRefusing(false)} />;
  }
  return (
    <>
      <Body place={place} qs>
        {questions.map((question, index) => (
          <fieldset key={index} id={`${base}-${index}`} aria-invalid={missing === index}>
            <legend>
              {questions.length > 1 ? <span className="no">{index + 1}</span> : null}
              <Words text={question.question} />
            </legend>
            <Options question={question} name={`${base}-${index}`} choice={choices[index] as Choice} onChoose={(choice) => choose(index, choice)} />
            {missing === index ? (
              <span className="fault" role="alert">
                {say("missing")}
              </span>
            ) : null}
          </fieldset>
        ))}
        <Refusal text={fault} />
      </Body>
      <AnswerFooter place={place} busy={busy} yes="sendAnswers" no={interrupt.decisions.includes("reject") ? "dontAnswer" : null} quiet reads onSend={send} onRefuse={() => setRefusing(true)}>
        <span className="quiet num span">{say("answered", done, questions.length)}</span>
        {more}
      </AnswerFooter>
    </>
  );
}

interface OptionsProps {
  question: Question;
  name: string;
  choice: Choice;
  onChoose: (choice: Partial<Choice>) => void;
}

function Options({ question, name, choice, onChoose }: OptionsProps) {
  const { say } = useWords();
  const phone = useMedia(PHONE);
  const { options = [] } = question;
  if (options.length === 0) {
    return <textarea className="input" rows={2} aria-label={shown(question.question)} value={choice.own} onChange={(event) => onChoose({ own: event.target.value })} />;
  }
  const short = options.length <= 4 && options.every((option) => !option.allow_custom && option.label.length < 40);
  return (
    <div className={short ? "opts two" : "opts"}>
      {options.map((option, index) => (
        <label key={index} className="opt">
          <input
            type="radio"
            name={name}
            checked={choice.option === index}
            onChange={(event) => {
              onChoose({ option: index });
              // What is typed next is the answer, not a key of the question.
              if (option.allow_custom) event.currentTarget.parentElement?.querySelector<HTMLElement>(".own")?.focus();
            }}
          />
          {option.allow_custom ? (
            <>
              <span className="quiet nowrap">{say("ownAnswer")}</span>
              <input
                className="own"
                aria-label={say("ownAnswer")}
                placeholder={phone ? say("ownAnswer") : ""}
                value={choice.own}
                onFocus={() => onChoose({ option: index })}
                onChange={(event) => onChoose({ option: index, own: event.target.value })}
                onKeyDown={leaveOwn}
              />
            </>
          ) : (
            <span>
              <Words text={option.label} />
              {tells(option.label, option.value) ? null : (
                <small className="quiet sends"><Phrase k="optionSends" values={[<Words key="value" text={option.value} exact />]} /></small>
              )}
            </span>
          )}
        </label>
      ))}
    </div>
  );
}
