import { Fragment, useEffect, useState } from "react";

import { useWords } from "../../words/words";
import { Shown } from "../Shown";
import type { Part } from "./folds";
import type { Line, Row } from "./rows";

export type DiffMode = "inline" | "split";

/** So many rows are drawn at first, and each time when the person asks for more: a browser cannot draw them all at once. */
const SHOWN = 1000;

interface RowsProps {
  parts: readonly Part[];
  mode: DiffMode;
  onSeen?: (all: boolean) => void;
}

/** The lines of a difference, without a frame around them. */
export function Rows({ parts, mode, onSeen }: RowsProps) {
  const { say, count } = useWords();
  const [most, setMost] = useState(SHOWN);
  // A fold costs one row, however many lines are in it.
  const rest = parts.reduce((sum, part) => sum + (part.kind === "rows" ? part.rows.length : 1), 0) - most;
  useEffect(() => onSeen?.(rest <= 0), [onSeen, rest]);
  let left = most;
  const drawn: Part[] = [];
  for (const part of parts) {
    if (left <= 0) break;
    drawn.push(part.kind === "rows" ? { ...part, rows: part.rows.slice(0, left) } : part);
    left -= part.kind === "rows" ? part.rows.length : 1;
  }
  return (
    <>
      {drawn.map((part) => (part.kind === "fold" ? <Fold key={part.start} rows={part.rows} mode={mode} /> : <Body key={part.start} rows={part.rows} mode={mode} />))}
      {rest > 0 ? (
        <button type="button" className="skip" onClick={() => setMost(most + SHOWN)}>
          {say("showNext", count(Math.min(SHOWN, rest)), count(rest))}
        </button>
      ) : null}
    </>
  );
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
      {lines("before").map((line) => (
        <Cell key={`-${line.number}`} line={line} kind="del" />
      ))}
      {lines("after").map((line) => (
        <Cell key={`+${line.number}`} line={line} kind="add" />
      ))}
    </>
  );
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
          const words = <Shown key={index} text={piece.text} />;
          return piece.changed ? <mark key={index}>{words}</mark> : words;
        })}
      </span>
    </div>
  );
}
