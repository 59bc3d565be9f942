// Text from an agent or a file, so that it cannot mislead who reads it before they decide: what has no form of its own,
// or changes the order of other characters, is written out.

/** Controls, format characters (bidirectional, zero-width, tags), private and unassigned ones, other blanks than the space. */
const HIDDEN = /(?![\n\t ])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Z}]|\p{Default_Ignorable_Code_Point}|\u2800/gu;

/** What hides or reorders the words of a message. Joiners of letters and emoji stay as they are there. */
const MISLEADING = /(?![\n\t])[\p{Cc}\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

/** A part of a text: words, or hidden characters as escapes with their names. */
export interface ShownPiece {
  text: string;
  hidden: string | null;
}

/** The text in pieces: an escape is not a text that looks like one. Hidden characters beside each other are one piece. */
export function pieces(text: string, kind: "all" | "misleading" = "all"): ShownPiece[] {
  const found: ShownPiece[] = [];
  let from = 0;
  for (const { 0: character, index } of text.matchAll(kind === "all" ? HIDDEN : MISLEADING)) {
    if (index > from) found.push({ text: text.slice(from, index), hidden: null });
    const last = found.at(-1);
    if (last?.hidden != null) {
      last.text += escaped(character);
      if (last.hidden.length < NAMES) last.hidden += ` ${nameOf(character)}`;
    } else found.push({ text: escaped(character), hidden: nameOf(character) });
    from = index + character.length;
  }
  if (from < text.length) found.push({ text: text.slice(from), hidden: null });
  return found;
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
  return text.replace(HIDDEN, escaped);
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
