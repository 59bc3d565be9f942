import { useEffect, useId, useMemo, useState, type ReactNode } from "react";

import { useChunk } from "../../rich/chunk";
import { More } from "../../rich/More";
import { Shown } from "../../rich/Shown";
import { useReading } from "../../rich/useReading";
import { useWords } from "../../words/words";
import { useSettledCard } from "./useSettled";

/** So many empty lines in a row are told, not shown. */
const BLANK = 3;
/** After so many parts they are shown: each number is an element. */
const PARTS = 1000;

interface BoxProps {
  text: string;
  /** Draws the box: it gives the element that scrolls what it needs. */
  draw: (props: { ref: (element: HTMLElement | null) => void; onScroll: () => void; tabIndex: 0; className: string }, content: ReactNode) => ReactNode;
}

/** A text that the person must have seen to its end before they say yes to it. */
export function Box({ text, draw }: BoxProps) {
  const { say, count } = useWords();
  const [whole, setWhole] = useState(false);
  const { attach, look, below, unread } = useReading(text);
  useUnread(unread);
  useEffect(look, [look, whole]);
  const chunk = useChunk(text);
  const parts = useMemo(() => split(chunk.head), [chunk.head]);
  const lines = useMemo(() => text.split("\n").length, [text]);
  const content = (
    <>
      {parts.map((part, index) =>
        typeof part === "string" ? (
          <Shown key={index} text={part} />
        ) : (
          <span key={index} className="blank-lines">
            {say("emptyLines", count(part.blank))}
          </span>
        ),
      )}
      <More chunk={chunk} />
    </>
  );
  return (
    <div className={below ? "reading below" : "reading"}>
      {draw({ ref: attach, onScroll: look, tabIndex: 0, className: whole ? "whole" : "" }, content)}
      {lines > 3 || below ? (
        <p className="measure quiet">
          <span className="num">{say("textSize", count(lines), count(text.length))}</span>
          {below ? (
            <>
              <strong>{say("moreBelow")}</strong>
              {whole ? null : (
                <button type="button" className="link" onClick={() => setWhole(true)}>
                  {say("showWhole")}
                </button>
              )}
            </>
          ) : null}
        </p>
      ) : null}
    </div>
  );
}

/** Tells the question that something in it must still be read. */
export function useUnread(unread: boolean): void {
  const { note } = useSettledCard();
  const id = useId();
  useEffect(() => note(id, unread), [note, id, unread]);
  useEffect(() => () => note(id, false), [note, id]);
}

type Part = string | { blank: number };

/** Runs of empty lines push what follows out of sight: each becomes a number. */
function split(text: string): Part[] {
  const parts: Part[] = [];
  let kept: string[] = [];
  let blank: string[] = [];
  const settle = (): void => {
    if (blank.length < BLANK || parts.length > PARTS) kept.push(...blank);
    else {
      if (kept.length > 0) parts.push(kept.join("\n"));
      parts.push({ blank: blank.length });
      kept = [];
    }
    blank = [];
  };
  for (const line of text.split("\n")) {
    if (/^[ \t]*$/.test(line)) {
      blank.push(line);
      continue;
    }
    settle();
    kept.push(line);
  }
  settle();
  if (kept.length > 0) parts.push(kept.join("\n"));
  return parts;
}
