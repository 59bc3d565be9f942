import { Fragment, useMemo, useState } from "react";

import { useWords } from "../../words/words";
import { Shown } from "../Shown";
import type { Part } from "./folds";
import type { Line, Row } from "./rows";

export type DiffMode = "inline" | "split";

/** So many rows are drawn at first, and each time when the person asks for more: a browser cannot draw them all at once. */
const SHOWN = 300;
/** So many characters are drawn in one step, if their lines are long. */
const CHARACTERS = 50_000;
/** So many places with hidden characters are marked in one line. */
const MARKS = 100;
/** So many empty lines in a row are told, not shown. */
const BLANK = 3;

interface RowsProps {
  parts: readonly Part[];
  mode: DiffMode;
}

/** The lines of a difference, without a frame around them. */
export function Rows({ parts, mode }: RowsProps) {
  const { say, count } = useWords();
  const [steps, setSteps] = useState(1);
  const { drawn, rest } = useMemo(() => taken(parts, steps), [parts, steps]);
  return (
    <>
      {drawn.map((part) => (part.kind === "fold" ? <Fold key={part.start} rows={part.rows} mode={mode} /> : <Body key={part.start} rows={part.rows} mode={mode} />))}
      {rest > 0 ? (
        <button type="button" className="skip" data-more onClick={() => setSteps(steps + (steps < 3 ? 1 : steps))}>
          {say("showNext", count(Math.min(SHOWN * (steps < 3 ? 1 : steps), rest)), count(rest))}
        </button>
      ) : null}
    </>
  );
}

/** What is drawn in so many steps, and how many rows remain. A fold costs one row, however many lines are in it. */
function taken(parts: readonly Part[], steps: number): { drawn: Part[]; rest: number } {
  let rows = SHOWN * steps;
  let characters = CHARACTERS * steps;
  let rest = 0;
  const drawn: Part[] = [];
  for (const part of parts) {
    if (part.kind === "fold") {
      if (rows > 0 && characters > 0) drawn.push(part);
      else rest += 1;
      rows -= 1;
      continue;
    }
    let end = 0;
    for (; end < part.rows.length && rows > 0 && characters > 0; end += 1) {
      rows -= 1;
      characters -= sizeOf(part.rows[end] as Row);
    }
    if (end > 0) drawn.push({ ...part, rows: part.rows.slice(0, end) });
    rest += part.rows.length - end;
  }
  return { drawn, rest };
}

function sizeOf({ before, after }: Row): number {
  return lengthOf(before) + lengthOf(after);
}

function lengthOf(line: Line | null): number {
  return line === null ? 0 : line.pieces.reduce((sum, piece) => sum + piece.text.length, 0);
}

function Fold({ rows, mode }: { rows: readonly Row[]; mode: DiffMode }) {
  const { say, count } = useWords();
  const [open, setOpen] = useState(false);
  const [most, setMost] = useState(SHOWN);
  if (!open)
    return (
      <button type="button" className="skip" aria-expanded="false" onClick={() => setOpen(true)}>
        {say("unchanged", count(rows.length))}
      </button>
    );
  return (
    <>
      <Body rows={rows.slice(0, most)} mode={mode} />
      {rows.length > most ? (
        <button type="button" className="skip" onClick={() => setMost(most + SHOWN)}>
          {say("unchanged", count(rows.length - most))}
        </button>
      ) : null}
    </>
  );
}

function Body({ rows, mode }: { rows: readonly Row[]; mode: DiffMode }) {
  if (mode === "split")
    return rows.map((row, index) => (
      <Fragment key={index}>
        <Cell line={row.before} kind={row.kind === "same" ? "" : "del"} />
        <Cell line={row.after} kind={row.kind === "same" ? "" : "add"} />
      </Fragment>
    ));
  const changed = rows[0]?.kind === "changed";
  if (!changed) return rows.map((row, index) => <Cell key={index} line={row.after} kind="" />);
  const lines = (side: "before" | "after") => rows.flatMap((row) => row[side] ?? []);
  return (
    <>
      <Side lines={lines("before")} kind="del" />
      <Side lines={lines("after")} kind="add" />
    </>
  );
}

/** Lines that were taken out or put in. Runs of empty ones would push what follows out of sight: each becomes a number. */
function Side({ lines, kind }: { lines: readonly Line[]; kind: "del" | "add" }) {
  const { say, count } = useWords();
  return runs(lines).map((run) => {
    const [first] = run as [Line];
    if (run.length === 1) return <Cell key={first.number} line={first} kind={kind} />;
    return (
      <div key={first.number} className={`ln ${kind}`}>
        <span>{first.number}</span>
        <span>{SIGNS[kind]}</span>
        <span>
          <span className="blank-lines">{say("emptyLines", count(run.length))}</span>
        </span>
      </div>
    );
  });
}

/** Each line by itself, and many empty ones in a row together. */
function runs(lines: readonly Line[]): Line[][] {
  const found: Line[][] = [];
  let blank: Line[] = [];
  const settle = (): void => {
    if (blank.length < BLANK) found.push(...blank.map((line) => [line]));
    else found.push(blank);
    blank = [];
  };
  for (const line of lines) {
    if (line.pieces.every((piece) => /^[ \t]*$/.test(piece.text))) {
      blank.push(line);
      continue;
    }
    settle();
    found.push([line]);
  }
  settle();
  return found;
}

const SIGNS = { add: "+", del: "−", "": "" } as const;

function Cell({ line, kind }: { line: Line | null; kind: keyof typeof SIGNS }) {
  if (line === null) return <div className="ln void" />;
  return (
    <div className={kind ? `ln ${kind}` : "ln"}>
      <span>{line.number}</span>
      <span>{SIGNS[kind]}</span>
      <span>
        {line.pieces.map((piece, index) => {
          const words = <Shown key={index} text={piece.text} marks={MARKS} inner={index > 0} />;
          return piece.changed ? <mark key={index}>{words}</mark> : words;
        })}
      </span>
    </div>
  );
}
