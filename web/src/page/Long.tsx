import { useState } from "react";

import { Shown } from "../rich/Shown";
import { useWords } from "../words/words";

const LINES = 60;
const CHARACTERS = 8000;

/** A text that may be very long: its beginning, and all of it when it is wanted. */
export function Long({ text, className }: { text: string; className?: string }) {
  const { say, count } = useWords();
  const [all, setAll] = useState(false);
  const { head, lines } = begin(text);
  return (
    <>
      {/* A region that scrolls must be reachable with the keyboard. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre className={className} tabIndex={0}>
        <Shown text={all ? text : head} />
      </pre>
      {!all && head.length < text.length ? (
        <button type="button" className="link" onClick={() => setAll(true)}>
          {say("showAll", count(lines))}
        </button>
      ) : null}
    </>
  );
}

function begin(text: string): { head: string; lines: number } {
  const lines = text.split("\n");
  const head = lines.slice(0, LINES).join("\n").slice(0, CHARACTERS);
  return { head, lines: lines.length };
}
