import { useId, useState, type ReactNode } from "react";

import type { FormField, Interrupt } from "../../api/types";
import { shown } from "../../log/shown";
import { useTyped } from "../../state/typed";
import { useWords } from "../../words/words";
import { Icon } from "../Icon";
import { PHONE, useMedia } from "../useMedia";
import { AnswerFooter } from "./AnswerFooter";
import { Asking } from "./Asking";
import { Body, Refusal, type Place } from "./parts";
import { Refusing } from "./Refusing";
import { useGive } from "./useGive";

type Values = Record<string, string | boolean>;

function isValues(kept: unknown): boolean {
  return typeof kept === "object" && kept !== null && Object.values(kept).every((value) => typeof value === "string" || typeof value === "boolean");
}

/** What is sent: fields that were left empty are left out. An unchecked box that need not be checked is no refusal. */
function fieldsOf(fields: readonly FormField[], values: Values): { fields: Values; missing: string | null } {
  const given: [string, string | boolean][] = [];
  for (const { name, required } of fields) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    const empty = value === undefined || value === false || (typeof value === "string" && value.trim() === "");
    if (empty && required) return { fields: {}, missing: name };
    if (!empty) given.push([name, value]);
  }
  return { fields: Object.fromEntries(given), missing: null };
}

export function Confirmation({ interrupt, place, more }: { interrupt: Interrupt; place: Place; more?: ReactNode }) {
  const { say } = useWords();
  const { give, busy, fault } = useGive(interrupt.id);
  const [values, setValues] = useTyped<Values>(interrupt.id, "values", {}, isValues);
  const [missing, setMissing] = useState<string | null>(null);
  const [refusing, setRefusing] = useState(false);
  const base = useId();
  const phone = useMedia(PHONE);
  // A form that only wants a yes is answered by its buttons.
  const alone = interrupt.fields.length === 1 && interrupt.fields[0]?.type === "confirm" ? interrupt.fields[0] : null;
  // In the conversation the words that ask stand right above. On a phone the question covers them.
  const above = place === "card" && !phone;
  const set = (name: string, value: string | boolean): void => {
    setValues((all) => ({ ...all, [name]: value }));
    setMissing(null);
  };
  const send = (): void => {
    const found = fieldsOf(interrupt.fields, alone ? { [alone.name]: true } : values);
    if (found.missing === null) {
      give({ decision: "fields", fields: found.fields });
      return;
    }
    setMissing(found.missing);
    document.getElementById(`${base}-${found.missing}`)?.focus();
  };
  if (refusing) return <Refusing place={place} what={<Asking interrupt={interrupt} />} label={say("refuse")} busy={busy} fault={fault} give={give} onBack={() => setRefusing(false)} />;
  return (
    <>
      <Body place={place} qs>
        {above ? null : <Asking interrupt={interrupt} />}
        {(alone ? [] : interrupt.fields).map((field) => (
          <Field key={field.name} field={field} id={`${base}-${field.name}`} value={Object.hasOwn(values, field.name) ? values[field.name] : undefined} missing={missing === field.name} onChange={(value) => set(field.name, value)} />
        ))}
        <Refusal text={fault} />
      </Body>
      <AnswerFooter place={place} busy={busy} yes="confirm" no="refuse" onSend={send} onRefuse={() => setRefusing(true)}>
        {more}
      </AnswerFooter>
    </>
  );
}

interface FieldProps {
  field: FormField;
  id: string;
  value: string | boolean | undefined;
  missing: boolean;
  onChange: (value: string | boolean) => void;
}

function Field({ field, id, value, missing, onChange }: FieldProps) {
  const { say } = useWords();
  const label = shown(field.label || field.name);
  const fault = missing ? (
    <span className="fault" role="alert">
      {say("fillIn")}
    </span>
  ) : null;
  if (field.type === "confirm") {
    return (
      <div>
        <label className="check strong" htmlFor={id}>
          <input id={id} type="checkbox" checked={value === true} onChange={(event) => onChange(event.target.checked)} />
          <span>{label}</span>
          <small className="quiet">{field.required ? say("required") : ""}</small>
        </label>
        {fault}
      </div>
    );
  }
  const text = typeof value === "string" ? value : "";
  return (
    <div>
      <label className="field" htmlFor={id}>
        <span>
          <span>{label}</span>
          <small>{say(field.required ? "required" : "optional")}</small>
        </span>
        {field.type === "select" ? (
          <span className="select block">
            <select id={id} className={missing ? "input bad" : "input"} value={text} onChange={(event) => onChange(event.target.value)}>
              <option value="">{say("choose")}</option>
              {(field.options ?? []).map((option) => (
                <option key={option} value={option}>
                  {shown(option)}
                </option>
              ))}
            </select>
            <Icon name="down" />
          </span>
        ) : (
          <input id={id} className={missing ? "input bad" : "input"} value={text} onChange={(event) => onChange(event.target.value)} />
        )}
      </label>
      {fault}
    </div>
  );
}
