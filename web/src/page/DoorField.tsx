import { useId, type InputHTMLAttributes } from "react";

import { Icon } from "./Icon";

interface DoorFieldProps extends Omit<InputHTMLAttributes<HTMLInputElement>, "onChange"> {
  label: string;
  /** The rule for it; "" if there is none to tell. */
  hint?: string;
  /** What is wrong with it; "" if nothing is. */
  fault: string;
  value: string;
  onChange: (value: string) => void;
}

/** A field in front of the page, with its rule or with what is wrong with it below. */
export function DoorField({ label, hint = "", fault, onChange, ...input }: DoorFieldProps) {
  const id = useId();
  const below = `${id}-below`;
  return (
    <div className="field">
      <span>
        <label htmlFor={id}>{label}</label>
      </span>
      <input
        {...input}
        id={id}
        className={`input${fault ? " bad" : ""}`}
        required
        aria-invalid={fault !== ""}
        aria-describedby={fault || hint ? below : undefined}
        onChange={(event) => onChange(event.target.value)}
      />
      {hint && !fault ? (
        <small className="hint" id={below}>
          {hint}
        </small>
      ) : null}
      <div role="alert" className="fault-place">
        {fault ? (
          <span className="fault" id={below}>
            <Icon name="cross" small />
            <span>{fault}</span>
          </span>
        ) : null}
      </div>
    </div>
  );
}
