import { useId, useState, type ReactNode } from "react";

import { readJson } from "../../api/json";
import type { Interrupt } from "../../api/types";
import { isText, useTyped } from "../../state/typed";
import { useWords } from "../../words/words";
import { AnswerFooter } from "./AnswerFooter";
import { Full } from "./Full";
import { Body, Refusal, type Place } from "./parts";
import { Refusing } from "./Refusing";
import { useGive } from "./useGive";
import { Words } from "./Words";

/** An operator's own graph asks in its own form: any JSON is the answer, and plain words are JSON too. */
export function Graph({ interrupt, place, more }: { interrupt: Interrupt; place: Place; more?: ReactNode }) {
  const { say } = useWords();
  const { give, busy, fault } = useGive(interrupt.id);
  const [form, setForm] = useTyped<"text" | "json">(interrupt.id, "form", typeof interrupt.value === "string" ? "text" : "json", (kept) => kept === "text" || kept === "json");
  const [text, setText] = useTyped(interrupt.id, "text", "", isText);
  const [wrong, setWrong] = useState(false);
  const [refusing, setRefusing] = useState(false);
  const id = useId();
  const send = (): void => {
    if (form === "text") {
      give({ decision: "value", value: text });
      return;
    }
    try {
      give({ decision: "value", value: readJson(text) });
    } catch {
      setWrong(true);
      document.getElementById(id)?.focus();
    }
  };
  const change = (next: "text" | "json"): void => {
    setForm(next);
    setWrong(false);
  };
  if (refusing) return <Refusing place={place} what={<Value value={interrupt.value} />} label={say("refuse")} busy={busy} fault={fault} give={give} onBack={() => setRefusing(false)} />;
  return (
    <>
      <Body place={place}>
        <Value value={interrupt.value} />
        <div className="field">
          <span>
            <label htmlFor={id}>{say("graphValue")}</label>
            <span className="grow" />
            <span className="seg" role="group" aria-label={say("graphValue")}>
              <button type="button" aria-pressed={form === "text"} onClick={() => change("text")}>
                {say("graphText")}
              </button>
              <button type="button" aria-pressed={form === "json"} onClick={() => change("json")}>
                {say("graphJson")}
              </button>
            </span>
          </span>
          <textarea
            id={id}
            className={form === "json" ? "cmd" : "input"}
            rows={3}
            spellCheck={form === "text"}
            aria-invalid={wrong}
            placeholder={form === "json" ? '{"approved": true}' : ""}
            value={text}
            onChange={(event) => {
              setText(event.target.value);
              setWrong(false);
            }}
          />
          {wrong ? (
            <span className="fault" role="alert">
              {say("badJson")}
            </span>
          ) : null}
        </div>
        <Refusal text={fault} />
      </Body>
      <AnswerFooter place={place} busy={busy} yes="sendAnswer" no="refuse" reads onSend={send} onRefuse={() => setRefusing(true)}>
        {more}
      </AnswerFooter>
    </>
  );
}

/** What the graph asks. */
function Value({ value }: { value: unknown }) {
  if (typeof value === "string")
    return (
      <div className="plain">
        <Words text={value} />
      </div>
    );
  return <Full value={value} />;
}
