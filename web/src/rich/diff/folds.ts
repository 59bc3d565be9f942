// Long runs of unchanged rows are folded.
import type { Row } from "./rows";

export type Part = { kind: "rows"; start: number; rows: readonly Row[] } | { kind: "fold"; start: number; rows: readonly Row[] };

/** Unchanged lines that stay visible beside a change. */
const AROUND = 2;
/** Fewer rows than this are not worth a fold. */
const LEAST = 2;

export function folded(rows: readonly Row[]): Part[] {
  const parts: Part[] = [];
  let index = 0;
  while (index < rows.length) {
    const start = index;
    const same = rows[index]?.kind === "same";
    while (index < rows.length && (rows[index]?.kind === "same") === same) index += 1;
    const from = same && start > 0 ? start + AROUND : start;
    const to = same && index < rows.length ? index - AROUND : index;
    if (!same || to - from < LEAST) put(parts, rows, start, index);
    else {
      put(parts, rows, start, from);
      parts.push({ kind: "fold", start: from, rows: rows.slice(from, to) });
      put(parts, rows, to, index);
    }
  }
  return parts;
}

function put(parts: Part[], rows: readonly Row[], from: number, to: number): void {
  if (from < to) parts.push({ kind: "rows", start: from, rows: rows.slice(from, to) });
}
