import { useCallback, useEffect, useId, useMemo, useRef, useState, type ReactNode } from "react";

import { Shown } from "../../rich/Shown";
import { useWords } from "../../words/words";
import { useSettledCard } from "./useSettled";

/** Pixels that may be missing at the end of a text that was scrolled to its end. */
const SLACK = 4;
/** So many empty lines in a row are told, not shown. */
const BLANK = 3;

interface BoxProps {
  text: string;
  /** Draws the box: it gives the element that scrolls what it needs. */
  draw: (props: { ref: (element: HTMLElement | null) => void; onScroll: () => void; tabIndex: 0; className: string }, content: ReactNode) => ReactNode;
}

/** A text that the person must have seen to its end before they say yes to it. */
export function Box({ text, draw }: BoxProps) {
  const { say, count } = useWords();
  const { note } = useSettledCard();
  const id = useId();
  const box = useRef<HTMLElement | null>(null);
  const [whole, setWhole] = useState(false);
  const [below, setBelow] = useState(false);
  const read = useRef("");
  const parts = useMemo(() => split(text), [text]);

  const look = useCallback(() => {
    const element = box.current;
    if (!element) return;
    const rest = element.scrollHeight - element.clientHeight - element.scrollTop > SLACK;
    // A box that is folded away has no height, and was not read.
    if (!rest && element.clientHeight > 0) read.current = text;
    setBelow(rest);
    note(id, rest && read.current !== text);
  }, [text, id, note]);

  useEffect(() => {
    look();
    const element = box.current;
    if (!element || typeof ResizeObserver === "undefined") return;
    const watcher = new ResizeObserver(look);
    watcher.observe(element);
    return () => watcher.disconnect();
  }, [look, whole]);
  useEffect(() => () => note(id, false), [id, note]);

  const attach = useCallback((element: HTMLElement | null) => {
    box.current = element;
  }, []);
  const lines = text.split("\n").length;
  const content = parts.map((part, index) =>
    typeof part === "string" ? (
      <Shown key={index} text={part} />
    ) : (
      <span key={index} className="blank-lines">
        {say("emptyLines", count(part.blank))}
      </span>
    ),
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
              <button type="button" className="link" onClick={() => setWhole(true)}>
                {say("showWhole")}
              </button>
            </>
          ) : null}
        </p>
      ) : null}
    </div>
  );
}

type Part = string | { blank: number };

/** Runs of empty lines push what follows out of sight: each becomes a number. */
function split(text: string): Part[] {
  const parts: Part[] = [];
  let kept: string[] = [];
  let blank: string[] = [];
  const settle = (): void => {
    if (blank.length < BLANK) kept.push(...blank);
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
