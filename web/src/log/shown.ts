// Text from an agent or a file, so that it cannot mislead who reads it before they decide: what has no form of its own,
// or changes the order of other characters, is written out.

/** Controls, format characters (bidirectional, zero-width, tags), private and unassigned ones, other blanks than the space. */
const HIDDEN = /(?![\n\t ])[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Z}]|\p{Default_Ignorable_Code_Point}|\u2800/gu;

/** The text with hidden characters written as escapes. Line breaks and tabs stay. */
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
