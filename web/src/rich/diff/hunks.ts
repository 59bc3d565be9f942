// The rows of a difference that the server made.
import { Pen, type Difference } from "./rows";

export interface Hunk {
  old_start: number;
  old_lines: number;
  new_start: number;
  new_lines: number;
  /** `[op, text]`; the op `\` is a note about the line before it. */
  lines: readonly (readonly [op: " " | "-" | "+" | "\\", text: string])[];
}

/** Rows of the hunks, and before each hunk how many unchanged lines the server left out. */
export interface Hunked extends Difference {
  /** By the index of the row before which they were left out. */
  skipped: ReadonlyMap<number, number>;
}

export function hunked(hunks: readonly Hunk[]): Hunked {
  const pen = new Pen();
  const skipped = new Map<number, number>();
  let written = 0;
  let seen = 1;
  for (const hunk of hunks) {
    const start = hunk.old_lines === 0 ? hunk.old_start + 1 : hunk.old_start;
    if (start > seen) skipped.set(written, start - seen);
    written += write(pen, hunk);
    seen = start + hunk.old_lines;
  }
  return { ...pen.done(), skipped };
}

function write(pen: Pen, hunk: Hunk): number {
  let before = hunk.old_start;
  let after = hunk.new_start;
  let rows = 0;
  let removed: string[] = [];
  let added: string[] = [];
  const flush = () => {
    pen.change(removed, before, added, after);
    before += removed.length;
    after += added.length;
    rows += Math.max(removed.length, added.length);
    removed = [];
    added = [];
  };
  for (const [op, text] of hunk.lines) {
    if (op === "-") {
      if (added.length > 0) flush();
      removed.push(text);
    } else if (op === "+") added.push(text);
    else if (op === " ") {
      flush();
      pen.same(text, before, after);
      before += 1;
      after += 1;
      rows += 1;
    }
  }
  flush();
  return rows;
}
