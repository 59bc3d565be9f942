import { useMemo, useState } from "react";

import { useWords } from "../../words/words";
import { numeric, parse } from "./csv";

const STEP = 200;
const COLUMNS = 200;

/** A table of comma-separated values: its first row is the head. */
export function Csv({ text }: { text: string }) {
  const { say, count } = useWords();
  const [most, setMost] = useState(STEP);
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
                  {cell}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {body.map((row, index) => (
              <tr key={index}>
                {row.slice(0, COLUMNS).map((cell, column) => (
                  <td key={column} className={side(column)}>
                    {cell}
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
          <button type="button" className="btn tight" onClick={() => setMost(most + 5 * STEP)}>
            {say("showMore")}
          </button>
        </p>
      ) : null}
    </>
  );
}
