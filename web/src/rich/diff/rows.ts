// The difference of two texts as rows: unchanged, removed and added lines, with the changed words marked.
import { align } from "./align";
import { mark, type Piece } from "./words";

export interface Line {
  /** The number of the line in its text. */
  number: number;
  pieces: readonly Piece[];
}

/** One row: a line in both texts, or a line of one text, or a changed line beside the line that it became. */
export type Row =
  | { kind: "same"; before: Line; after: Line }
  | { kind: "changed"; before: Line | null; after: Line | null };

export interface Difference {
  rows: readonly Row[];
  added: number;
  removed: number;
}

/** More changed lines than this are shown without a search for what stayed between them. */
const MOST = 1500;
/** Words are compared in so many pairs of lines. */
const PAIRS = 400;

export function difference(before: string, after: string): Difference {
  const old = linesOf(before);
  const now = linesOf(after);
  const numbered = number();
  const matches = align(old.map(numbered), now.map(numbered), MOST) ?? ends(old, now);
  const pen = new Pen();
  let b = 0;
  let a = 0;
  for (const [nextB, nextA] of [...matches, [old.length, now.length] as const]) {
    pen.change(old.slice(b, nextB), b + 1, now.slice(a, nextA), a + 1);
    if (nextB < old.length) pen.same(old[nextB] ?? "", nextB + 1, nextA + 1);
    b = nextB + 1;
    a = nextA + 1;
  }
  return pen.done();
}

/** Writes rows one after the other. */
export class Pen {
  private readonly rows: Row[] = [];
  private added = 0;
  private removed = 0;
  private pairs = PAIRS;

  same(text: string, before: number, after: number): void {
    const pieces = [{ text, changed: false }];
    this.rows.push({ kind: "same", before: { number: before, pieces }, after: { number: after, pieces } });
  }

  /** Lines that are replaced by others stand beside each other, in order. */
  change(before: readonly string[], beforeFrom: number, after: readonly string[], afterFrom: number): void {
    for (let i = 0; i < Math.max(before.length, after.length); i += 1) {
      const [old, now] = this.marked(before[i], after[i]);
      this.rows.push({
        kind: "changed",
        before: old && { number: beforeFrom + i, pieces: old },
        after: now && { number: afterFrom + i, pieces: now },
      });
    }
    this.removed += before.length;
    this.added += after.length;
  }

  done(): Difference {
    return { rows: this.rows, added: this.added, removed: this.removed };
  }

  private marked(before: string | undefined, after: string | undefined): [readonly Piece[] | null, readonly Piece[] | null] {
    if (before !== undefined && after !== undefined && this.pairs > 0) {
      this.pairs -= 1;
      return mark(before, after);
    }
    const whole = (text: string | undefined) => (text === undefined ? null : [{ text, changed: false }]);
    return [whole(before), whole(after)];
  }
}

/** Equal lines get equal numbers: numbers are compared at once, however long the lines are. */
function number(): (line: string) => number {
  const known = new Map<string, number>();
  return (line) => {
    const found = known.get(line) ?? known.size;
    known.set(line, found);
    return found;
  };
}

/** Only `\n` ends a line, as in the server's diffs. */
function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** What two long, very different texts have in common at the beginning and at the end. */
function ends(old: readonly string[], now: readonly string[]): [number, number][] {
  const matches: [number, number][] = [];
  const shortest = Math.min(old.length, now.length);
  let head = 0;
  for (; head < shortest && old[head] === now[head]; head += 1) matches.push([head, head]);
  const tail: [number, number][] = [];
  for (let i = 1; i <= shortest - head && old[old.length - i] === now[now.length - i]; i += 1) tail.push([old.length - i, now.length - i]);
  return [...matches, ...tail.reverse()];
}
