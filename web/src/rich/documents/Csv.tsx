import { useMemo, useState } from "react";

import { drawn } from "../../log/shown";
import { useWords } from "../../words/words";
import { Nodes } from "../AsIs";
import { useChunk } from "../chunk";
import { More } from "../More";
import { numeric, parse } from "./csv";

const STEP = 200;
const COLUMNS = 200;
/** Cells that are drawn at first: wide tables get fewer rows. */
const CELLS = 5000;

/** Characters that are drawn at first: long cells get fewer rows. */
const CHARACTERS = 200_000;
/** A longer cell is drawn in steps, the first of which has so many characters. */
const LONG = 500;
const FIRST = 200;

/** The first row is looked for in so many characters. */
const WIDE = 20_000;

/** A table of comma-separated values: its first row is the head. */
export function Csv({ text }: { text: string }) {
  const { say, count } = useWords();
  const [steps, setSteps] = useState(1);
  const wide = useMemo(() => Math.min(COLUMNS, parse(text.slice(0, WIDE), 1).rows[0]?.length ?? 1), [text]);
  const most = Math.max(1, Math.min(STEP * steps, Math.floor((CELLS * steps) / wide)));
  const { rows, total } = useMemo(() => {
    const sheet = parse(text, most + 1);
    return { ...sheet, rows: sheet.rows.slice(0, fitting(sheet.rows, CHARACTERS * steps)) };
  }, [text, most, steps]);
  const sides = useMemo(() => numeric(rows), [rows]);
  const [head = [], ...body] = rows;
  const side = (column: number) => (sides[column] ? "r" : undefined);
  return (
    <>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className="table csv" tabIndex={0} role="group" aria-label={say("table")}>
        <table>
          <thead>
            <tr>
              {head.slice(0, COLUMNS).map((cell, column) => (
                <th key={column} scope="col" className={side(column)}>
                  <Cell text={cell} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {body.map((row, index) => (
              <tr key={index}>
                {row.slice(0, COLUMNS).map((cell, column) => (
                  <td key={column} className={side(column)}>
                    <Cell text={cell} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {total > rows.length ? (
        <p className="more">
          <span className="quiet num">{say("rowsShown", count(rows.length - 1), count(total - 1))}</span>
          <button type="button" className="btn tight" onClick={() => setSteps(steps + 5)}>
            {say("showMore")}
          </button>
        </p>
      ) : null}
    </>
  );
}

function Cell({ text }: { text: string }) {
  const whole = drawn(text);
  return whole.length > LONG ? <LongCell key={whole} text={whole} /> : <Nodes text={whole} />;
}

/** A cell whose end nobody would see in a line. */
function LongCell({ text }: { text: string }) {
  const chunk = useChunk(text, FIRST);
  return (
    <div className="long-cell">
      <Nodes text={chunk.head} /> <More chunk={chunk} />
    </div>
  );
}

/** How many rows are drawn with so many characters: the head and one row at least. */
function fitting(rows: readonly string[][], most: number): number {
  let rest = most;
  for (const [index, row] of rows.entries()) {
    if (rest <= 0 && index > 1) return index;
    for (const cell of row.slice(0, COLUMNS)) rest -= cell.length > LONG ? FIRST : cell.length;
  }
  return rows.length;
}
