import { useId, useState } from "react";

import { Shown } from "../rich/Shown";
import { useWords } from "../words/words";

/** A longer message is folded: the answer to it should be in sight. */
const LINES = 24;
const CHARACTERS = 2400;

/** What the person said. Of a long message the whole text is there, also for a search, and its beginning is seen. */
export function Bubble({ text }: { text: string }) {
  const { say } = useWords();
  const [all, setAll] = useState(false);
  const id = useId();
  const whole = text.replaceAll("\r\n", "\n");
  const long = whole.length > CHARACTERS || isOver(whole, LINES);
  return (
    <>
      <div className={long && !all ? "bubble lines-kept folded" : "bubble lines-kept"} id={id}>
        <Shown text={whole} message />
      </div>
      {long ? (
        <button type="button" className="link unfold" aria-expanded={all} aria-controls={id} onClick={() => setAll(!all)}>
          {say(all ? "showLess" : "showWhole")}
        </button>
      ) : null}
    </>
  );
}

function isOver(text: string, lines: number): boolean {
  let at = -1;
  for (let n = 0; n < lines; n += 1) {
    at = text.indexOf("\n", at + 1);
    if (at < 0) return false;
  }
  return true;
}
