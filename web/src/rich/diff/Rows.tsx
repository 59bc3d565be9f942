import { Fragment, useState } from "react";

import { shown } from "../../log/shown";
import { useWords } from "../../words/words";
import type { Part } from "./folds";
import type { Line, Row } from "./rows";

export type DiffMode = "inline" | "split";

/** Rows beyond these are drawn when the person asks for them. */
const SHOWN = 1000;

interface RowsProps {
  parts: readonly Part[];
  mode: DiffMode;
}

/** The lines of a difference, without a frame around them. */
export function Rows({ parts, mode }: RowsProps) {
  const { say, count } = useWords();
  const [most, setMost] = useState(SHOWN);
  const total = parts.reduce((sum, part) => sum + part.rows.length, 0);
  let left = most;
  const drawn: Part[] = [];
  for (const part of parts) {
    if (left <= 0) break;
    // A fold costs one row, however many lines are in it.
    drawn.push(part.kind === "rows" ? { ...part, rows: part.rows.slice(0, left) } : part);
    left -= part.kind === "rows" ? part.rows.length : 1;
  }
  return (
    <>
      {drawn.map((part) => (part.kind === "fold" ? <Fold key={part.start} rows={part.rows} mode={mode} /> : <Body key={part.start} rows={part.rows} mode={mode} />))}
      {left <= 0 && total > most ? (
        <button type="button" className="skip" onClick={() => setMost(most * 10)}>
          {say("showAll", count(total))}
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
        <button type="button" className="skip" onClick={() => setMost(most * 10)}>
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
      <span>{line.pieces.map((piece, index) => (piece.changed ? <mark key={index}>{shown(piece.text)}</mark> : shown(piece.text)))}</span>
    </div>
  );
}
