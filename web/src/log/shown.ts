// Text from an agent or a file, so that it cannot mislead who reads it before they decide: what has no form of its own,
// or changes the order of other characters, is written out.

const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|[\u{e0000}-\u{e0fff}]|\p{Co}|\p{Cn}/gu;

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
