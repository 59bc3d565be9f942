// Which words of a changed line changed.
import { align } from "./align";

export interface Piece {
  text: string;
  changed: boolean;
}

/** Longer lines are shown without marks. */
const LONGEST = 2000;
/** With more different words than this the line is another one, and no word is marked. */
const MOST = 160;
/** At least this part of the shorter line must stay: marks all over a line help nobody. */
const COMMON = 0.3;
// A word, white space, one character of another kind. Chinese has no spaces: each of its characters is a word.
const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}_]+|\s+|[^]/gu;

export function mark(before: string, after: string): [Piece[], Piece[]] {
  const plain: [Piece[], Piece[]] = [[{ text: before, changed: false }], [{ text: after, changed: false }]];
  if (before.length > LONGEST || after.length > LONGEST) return plain;
  const old = before.match(WORD) ?? [];
  const now = after.match(WORD) ?? [];
  const matches = align(old, now, MOST);
  if (matches === null) return plain;
  const size = sizing(before, after);
  const stays = matches.reduce((sum, [b]) => sum + size(old[b] ?? ""), 0);
  const shorter = Math.min(size(before), size(after));
  if (shorter === 0 || stays < shorter * COMMON) return plain;
  return [pieces(old, new Set(matches.map(([b]) => b))), pieces(now, new Set(matches.map(([, a]) => a)))];
}

/** Quotes and brackets, which all lines of a kind have, make two lines no more alike; but some lines have nothing else. */
function sizing(before: string, after: string): (text: string) => number {
  const letters = (text: string): number => text.replace(/[^\p{L}\p{N}]+/gu, "").length;
  return letters(before) > 0 && letters(after) > 0 ? letters : (text) => text.trim().length;
}

function pieces(words: readonly string[], same: ReadonlySet<number>): Piece[] {
  const found: Piece[] = [];
  words.forEach((text, index) => {
    const last = found.at(-1);
    const changed = !same.has(index) || alone(words, same, index);
    if (last?.changed === changed) last.text += text;
    else found.push({ text, changed });
  });
  return found.flatMap(trimmed);
}

/** White space at the ends of changed words is not worth a mark. Where it is all that changed, it is. */
function trimmed(piece: Piece): Piece[] {
  const words = piece.text.trim();
  if (!piece.changed || words === "") return [piece];
  const before = piece.text.slice(0, piece.text.length - piece.text.trimStart().length);
  const after = piece.text.slice(before.length + words.length);
  return [{ text: before, changed: false }, { text: words, changed: true }, { text: after, changed: false }].filter((part) => part.text !== "");
}

/** White space between two changed words is marked with them. */
function alone(words: readonly string[], same: ReadonlySet<number>, index: number): boolean {
  const inside = index > 0 && index < words.length - 1;
  return inside && /^\s+$/.test(words[index] ?? "") && !same.has(index - 1) && !same.has(index + 1);
}
