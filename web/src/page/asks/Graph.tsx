import { useId, useMemo, useState, type ReactNode } from "react";

import { readJson } from "../../api/json";
import type { Interrupt } from "../../api/types";
import { isText, useTyped } from "../../state/typed";
import { useWords } from "../../words/words";
import { Icon } from "../Icon";
import { PHONE, useMedia } from "../useMedia";
import { AnswerFooter } from "./AnswerFooter";
import { choiceText, readAsked } from "./asked";
import { GraphQuestion } from "./GraphQuestion";
import { leaveOwn } from "./leaveOwn";
import { Body, Refusal, type Place } from "./parts";
import { Refusing } from "./Refusing";
import { useGive } from "./useGive";
import { Words } from "./Words";

/** What is chosen: the number of an offered answer, or how else it is answered. */
type Picked = number | "yes" | "own" | "json" | null;

/** An operator's own graph asks in its own form. The answer is one that it offers, yes, the person's own words, or any JSON. */
export function Graph({ interrupt, place, more }: { interrupt: Interrupt; place: Place; more?: ReactNode }) {
  const { say } = useWords();
  const { give, busy, fault } = useGive(interrupt.id);
  const asked = useMemo(() => readAsked(interrupt.value), [interrupt.value]);
  const { choices } = asked;
  // A plain text is mostly answered with one. Nothing else is chosen for the person.
  const begin: Picked = typeof interrupt.value === "string" && asked.words ? "own" : null;
  const isPicked = (kept: unknown): boolean => kept === null || kept === "own" || kept === "json" || (choices.length === 0 ? kept === "yes" : typeof kept === "number" && kept in choices);
  const [picked, setPicked] = useTyped<Picked>(interrupt.id, "picked", begin, isPicked);
  const [text, setText] = useTyped(interrupt.id, "text", "", isText);
  const [json, setJson] = useTyped(interrupt.id, "json", "", isText);
  const [unfolded, setUnfolded] = useState(picked === "json");
  const [wrong, setWrong] = useState<"missing" | "badJson" | null>(null);
  const [refusing, setRefusing] = useState(false);
  const base = useId();
  const phone = useMedia(PHONE);

  const pick = (next: Picked): void => {
    setPicked(next);
    setWrong(null);
  };
  const refuseToSend = (why: "missing" | "badJson"): void => {
    setWrong(why);
    const set = document.getElementById(base);
    set?.scrollIntoView({ block: "nearest" });
    (set?.querySelector<HTMLElement>("input:checked ~ .own") ?? set?.querySelector("input"))?.focus();
  };
  const send = (): void => {
    if (picked === "json") {
      try {
        give({ decision: "value", value: readJson(json) });
      } catch {
        refuseToSend("badJson");
      }
      return;
    }
    const value = picked === "yes" ? true : picked === "own" ? text : picked === null ? "" : choices[picked];
    if (typeof value === "string" && value.trim() === "") refuseToSend("missing");
    else give({ decision: "value", value });
  };

  const radio = (value: Picked) => (
    <input
      type="radio"
      name={base}
      checked={picked === value}
      onChange={(event) => {
        pick(value);
        // What is typed next is the answer, not a key of the question.
        event.currentTarget.parentElement?.querySelector<HTMLElement>(".own")?.focus();
      }}
    />
  );
  const question = <GraphQuestion asked={asked} />;
  if (refusing) return <Refusing place={place} what={question} label={say("refuse")} busy={busy} fault={fault} give={give} onBack={() => setRefusing(false)} />;
  return (
    <>
      <Body place={place} qs>
        {question}
        <fieldset id={base} aria-invalid={wrong !== null}>
          <legend className={asked.members.length > 0 || asked.other !== undefined ? "" : "sr"}>{say("graphValue")}</legend>
          <div className="opts">
            {choices.map((choice, index) => (
              <label key={index} className="opt">
                {radio(index)}
                <Words text={choiceText(choice)} />
              </label>
            ))}
            {choices.length === 0 ? (
              <label className="opt">
                {radio("yes")}
                <span>{say("graphYes")}</span>
              </label>
            ) : null}
            <label className="opt">
              {radio("own")}
              <span className="quiet nowrap">{say("ownAnswer")}</span>
              <textarea
                className="own"
                rows={1}
                aria-label={say("ownAnswer")}
                placeholder={phone ? say("ownAnswer") : ""}
                value={text}
                onFocus={() => picked !== "own" && pick("own")}
                onChange={(event) => {
                  setText(event.target.value);
                  pick("own");
                }}
                onKeyDown={leaveOwn}
              />
            </label>
            <details
              className="fold-args"
              open={unfolded}
              onToggle={(event) => {
                const { open } = event.currentTarget;
                setUnfolded(open);
                // What is folded away is not sent.
                if (!open && picked === "json") pick(null);
              }}
            >
              <summary>
                <Icon name="right" small />
                <span>{say("graphJson")}</span>
              </summary>
              {unfolded ? (
                <label className="opt">
                  {radio("json")}
                  <span className="quiet nowrap">JSON</span>
                  <textarea
                    className="own mono"
                    rows={2}
                    aria-label="JSON"
                    placeholder={phone ? "JSON" : ""}
                    spellCheck={false}
                    value={json}
                    onFocus={() => picked !== "json" && pick("json")}
                    onChange={(event) => {
                      setJson(event.target.value);
                      pick("json");
                    }}
                    onKeyDown={leaveOwn}
                  />
                </label>
              ) : null}
            </details>
          </div>
          {wrong ? (
            <span className="fault" role="alert">
              {say(wrong)}
            </span>
          ) : null}
        </fieldset>
        <Refusal text={fault} />
      </Body>
      <AnswerFooter place={place} busy={busy} yes="sendAnswer" no="refuse" reads onSend={send} onRefuse={() => setRefusing(true)}>
        {more}
      </AnswerFooter>
    </>
  );
}
