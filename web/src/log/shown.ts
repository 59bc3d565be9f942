// Text from an agent or a file, so that it cannot mislead who reads it before they decide: what has no form of its own,
// or changes the order of other characters, is written out.

/** Controls, format characters (bidirectional, zero-width, tags), private and unassigned ones, other blanks than the space. */
const HIDDEN = /(?![\n\t ])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Z}]|\p{Default_Ignorable_Code_Point}|\u2800/gu;

/** Marks on one letter, such as accents. No language has so many: a browser needs seconds to draw thousands of them. */
const MARKS = 32;
const DENSE = new RegExp(`\\p{M}{${MARKS + 1},}`, "gu");

/** What hides or reorders the words of a message. Joiners of letters and emoji stay as they are there. */
const MISLEADING = /(?![\n\t])[\p{Cc}\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

const PATTERNS = {
  all: new RegExp(`${DENSE.source}|${HIDDEN.source}`, "gu"),
  misleading: new RegExp(`${DENSE.source}|${MISLEADING.source}`, "gu"),
};

/** A part of a text: words, or hidden characters as escapes with their names. */
export interface ShownPiece {
  text: string;
  hidden: string | null;
  /** So many hidden characters are written out in it, and not marked: there are too many. */
  unmarked?: number;
}

/** So many places with hidden characters are marked in one text: each is an element. */
const MARKED = 1000;

/** The text in pieces: an escape is not a text that looks like one. Hidden characters beside each other are one piece. */
export function pieces(text: string, kind: "all" | "misleading" = "all", most = MARKED): ShownPiece[] {
  const found: ShownPiece[] = [];
  let from = 0;
  let marked = 0;
  for (const { 0: run, index } of text.matchAll(PATTERNS[kind])) {
    if (marked >= most && (index > from || found.at(-1)?.hidden == null)) {
      found.push(unmarked(text.slice(from), kind));
      return found;
    }
    const dense = isDense(run);
    const kept = dense ? leading(run) : "";
    if (index + kept.length > from) found.push({ text: text.slice(from, index) + kept, hidden: null });
    const written = dense ? counted(run, kept) : escaped(run);
    const last = found.at(-1);
    if (last?.hidden != null) {
      last.text += written;
      if (last.hidden.length < NAMES) last.hidden += ` ${nameOf(run)}`;
    } else {
      found.push({ text: written, hidden: nameOf(run) });
      marked += 1;
    }
    from = index + run.length;
  }
  if (from < text.length) found.push({ text: text.slice(from), hidden: null });
  return found;
}

/** The rest of a text with more hidden characters than can be marked. */
function unmarked(text: string, kind: keyof typeof PATTERNS): ShownPiece {
  let count = 0;
  const written = text.replace(PATTERNS[kind], (run) => {
    count += 1;
    return writtenOut(run);
  });
  return { text: written, hidden: null, unmarked: count };
}

/** Whether so many marks stand in a row that they are not all drawn. */
export function isDense(text: string): boolean {
  DENSE.lastIndex = 0;
  return DENSE.test(text);
}

/** The text as it can be drawn: of marks in a row only the first ones, and how many more there are. */
export function drawn(text: string): string {
  return text.replace(DENSE, writtenOut);
}

function writtenOut(run: string): string {
  if (!isDense(run)) return escaped(run);
  const kept = leading(run);
  return kept + counted(run, kept);
}

function leading(run: string): string {
  let end = 0;
  for (let n = 0; n < MARKS; n += 1) end += (run.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  return run.slice(0, end);
}

/** The marks that are not drawn: `\\u0301×500`. */
function counted(run: string, kept: string): string {
  let count = 0;
  for (const _ of run.slice(kept.length)) count += 1;
  return `${escaped(run.slice(kept.length))}×${count}`;
}

/** The names of hidden characters beside each other are listed up to this length. */
const NAMES = 80;

/** The names of the hidden characters in a text, each once. */
export function hiddenIn(text: string): string[] {
  return [...new Set(text.match(HIDDEN) ?? [])].map(nameOf);
}

function nameOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** The text with hidden characters written as escapes. Line breaks and tabs stay. Where it can be, `pieces` is used:
 * here an escape looks like a text that was written so. */
export function shown(text: string): string {
  return text.replace(PATTERNS.all, writtenOut);
}

/** As `shown`, on one line. */
export function shownLine(text: string): string {
  return shown(text).replace(/\n/g, "\\n").replace(/\t/g, "\\t");
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code === 0x0d) return "\\r";
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code <= 0xffff ? `\\u${code.toString(16).padStart(4, "0")}` : `\\U${code.toString(16).padStart(8, "0")}`;
}
