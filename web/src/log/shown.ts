// Text from an agent or a file, so that it cannot mislead who reads it before they decide: what has no form of its own,
// or changes the order of other characters, is written out.

/** Controls, format characters (bidirectional, zero-width, tags), private and unassigned ones, other blanks than the space. */
export const HIDDEN = /(?![\n\t ])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Z}]|\p{Default_Ignorable_Code_Point}|\u2800/gu;

/** Marks on one letter, such as accents. No language has so many: a browser needs seconds to draw thousands of them. */
const MARKS = 32;
/** Before a decision there are fewer: more of them are drawn over the line above. */
const FEW_MARKS = 4;
const dense = (marks: number): RegExp => new RegExp(`\\p{M}{${marks + 1},}`, "gu");
const DENSE = dense(MARKS);

/** Blanks that are so wide push what follows them to the next line, where it looks like a line of its own. In columns. */
const WIDE = 32;
/** At the beginning of a line they may be the depth of what is written there. */
const DEEP = 64;
const TAB = 8;
export const BLANKS = /[ \t]{4,}/g;

/** What hides or reorders the words of a message. Joiners of letters and emoji stay as they are there. */
const MISLEADING = /(?![\n\t])[\p{Cc}\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

export const PATTERNS = {
  all: new RegExp(`${BLANKS.source}|${dense(FEW_MARKS).source}|${HIDDEN.source}`, "gu"),
  misleading: new RegExp(`${DENSE.source}|${MISLEADING.source}`, "gu"),
};
/** How many of marks in a row are drawn. */
const DRAWN = { all: FEW_MARKS, misleading: MARKS };

export type Kind = keyof typeof PATTERNS;

export const isBlank = (run: string): boolean => run.startsWith(" ") || run.startsWith("\t");

/** Whether blanks are so wide that they are told. */
export function isWide(run: string, text: string, index: number, begins = true): boolean {
  const deep = index === 0 ? begins : text[index - 1] === "\n";
  let columns = 0;
  for (const blank of run) columns += blank === "\t" ? TAB : 1;
  return columns >= (deep ? DEEP : WIDE);
}

/** Whether so many marks stand in a row that they are not all drawn. */
export function isDense(text: string): boolean {
  DENSE.lastIndex = 0;
  return DENSE.test(text);
}

/** The text as it can be drawn: of marks in a row only the first ones, and how many more there are. */
export function drawn(text: string): string {
  return text.replace(DENSE, (run) => writtenOut(run, "misleading"));
}

export function writtenOut(run: string, kind: Kind): string {
  const { kept, written } = writing(run, kind);
  return kept + written;
}

const MARK = /^\p{M}/u;

/** What is drawn of a run as it is, and what stands for the rest. Many of a kind are counted: `\\u0301×500`. */
export function writing(run: string, kind: Kind): { kept: string; written: string } {
  if (isBlank(run)) return { kept: "", written: counted(run) };
  // A mark without a form of its own is a hidden character, and alone.
  const kept = MARK.test(run) ? leading(run, DRAWN[kind]) : "";
  if (kept === "" || kept.length === run.length) return { kept: "", written: escaped(run) };
  return { kept, written: counted(run.slice(kept.length)) };
}

/** So many kinds of characters in a row are named. */
const KINDS = 4;

function counted(run: string): string {
  let count = 0;
  const kinds = new Set<string>();
  for (const character of run) {
    count += 1;
    kinds.add(character);
  }
  const named = [...kinds].slice(0, KINDS).map(escaped).join("");
  return count === 1 ? named : `${named}${kinds.size > KINDS ? "…" : ""}×${count}`;
}

function leading(run: string, most: number): string {
  let end = 0;
  for (let n = 0; n < most; n += 1) end += (run.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  return run.slice(0, end);
}

/** The text with hidden characters written as escapes. Line breaks and tabs stay. Where it can be, `pieces` is used:
 * here an escape looks like a text that was written so. */
export function shown(text: string): string {
  return text.replace(PATTERNS.all, (run, index: number) => (isBlank(run) && !isWide(run, text, index) ? run : writtenOut(run, "all")));
}

/** As `shown`, on one line. */
export function shownLine(text: string): string {
  return shown(text).replace(/\n/g, "\\n").replace(/\t/g, "\\t");
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code === 0x0d) return "\\r";
  if (code === 0x09) return "\\t";
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code <= 0xffff ? `\\u${code.toString(16).padStart(4, "0")}` : `\\U${code.toString(16).padStart(8, "0")}`;
}
