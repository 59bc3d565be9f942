import { useMemo, useState } from "react";

import { drawn } from "../../log/shown";
import { useWords } from "../../words/words";
import { numeric, parse } from "./csv";

const STEP = 200;
const COLUMNS = 200;
/** Cells that are drawn at first: wide tables get fewer rows. */
const CELLS = 5000;

/** The first row is looked for in so many characters. */
const WIDE = 20_000;

/** A table of comma-separated values: its first row is the head. */
export function Csv({ text }: { text: string }) {
  const { say, count } = useWords();
  const [steps, setSteps] = useState(1);
  const wide = useMemo(() => Math.min(COLUMNS, parse(text.slice(0, WIDE), 1).rows[0]?.length ?? 1), [text]);
  const most = Math.max(1, Math.min(STEP * steps, Math.floor((CELLS * steps) / wide)));
  const { rows, total } = useMemo(() => parse(text, most + 1), [text, most]);
  const sides = useMemo(() => numeric(rows), [rows]);
  const [head = [], ...body] = rows;
  const side = (column: number) => (sides[column] ? "r" : undefined);
  return (
    <>
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className="table csv" tabIndex={0} role="group" aria-label={say("table")}>
        <table>
          <thead>
            <tr>
              {head.slice(0, COLUMNS).map((cell, column) => (
                <th key={column} scope="col" className={side(column)}>
                  {drawn(cell)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {body.map((row, index) => (
              <tr key={index}>
                {row.slice(0, COLUMNS).map((cell, column) => (
                  <td key={column} className={side(column)}>
                    {drawn(cell)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {total - 1 > most ? (
        <p className="more">
          <span className="quiet num">{say("rowsShown", count(most), count(total - 1))}</span>
          <button type="button" className="btn tight" onClick={() => setSteps(steps + 5)}>
            {say("showMore")}
          </button>
        </p>
      ) : null}
    </>
  );
}
