import { useEffect, useState } from "react";

import { useWords } from "../words/words";
import { Icon } from "./Icon";

interface CopyProps {
  text: string | (() => string);
  className?: string;
  /** The word beside the picture. */
  named?: boolean;
  small?: boolean;
}

export function Copy({ text, className = "icon", named = false, small = false }: CopyProps) {
  const { say } = useWords();
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), 1500);
    return () => clearTimeout(timer);
  }, [done]);
  const label = say(done ? "copied" : "copy");
  return (
    <button
      type="button"
      className={className}
      aria-label={label}
      title={label}
      onClick={(event) => {
        event.preventDefault();
        event.stopPropagation();
        void copyText(typeof text === "string" ? text : text()).then(setDone);
      }}
    >
      <Icon name={done ? "check" : "copy"} small={small} />
      {named ? <span>{label}</span> : null}
    </button>
  );
}

/** Without https a browser has no clipboard for scripts: then a selection is copied. */
async function copyText(text: string): Promise<boolean> {
  if ("clipboard" in navigator) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // Not allowed here: try the old way.
    }
  }
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "sr";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}
