// A text before a decision, in pieces: words, and what is written out in them.
import { isBlank, isWide, PATTERNS, writing, writtenOut, type Kind } from "./shown";

/** A part of a text: words, or hidden characters as escapes with their names. */
export interface ShownPiece {
  text: string;
  hidden: string | null;
  /** So many hidden characters are written out in it, and not marked: there are too many. */
  unmarked?: number;
}

/** So many places with hidden characters are marked in one text: each is an element. */
const MARKED = 1000;

/** The text in pieces: an escape is not a text that looks like one. Hidden characters beside each other are one piece.
 * A text that does not begin a line, such as a changed word in it, has no depth. */
export function pieces(text: string, kind: Kind = "all", most = MARKED, begins = true): ShownPiece[] {
  const found: ShownPiece[] = [];
  let from = 0;
  let marked = 0;
  for (const { 0: run, index } of text.matchAll(PATTERNS[kind])) {
    if (isBlank(run) && !isWide(run, text, index, begins)) continue;
    if (marked >= most && (index > from || found.at(-1)?.hidden == null)) {
      found.push(unmarked(text.slice(from), kind));
      return found;
    }
    const { kept, written } = writing(run, kind);
    if (index + kept.length > from) found.push({ text: text.slice(from, index) + kept, hidden: null });
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
function unmarked(text: string, kind: Kind): ShownPiece {
  let count = 0;
  const written = text.replace(PATTERNS[kind], (run, index: number) => {
    if (isBlank(run) && !isWide(run, text, index)) return run;
    count += 1;
    return writtenOut(run, kind);
  });
  return { text: written, hidden: null, unmarked: count };
}

/** The names of hidden characters beside each other are listed up to this length. */
const NAMES = 80;

export function nameOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
