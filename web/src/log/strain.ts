// Whether a field can hold a text. A field draws all of it and as it is, and some short texts take a browser minutes, or end it.
import { isDense } from "./shown";
import { RIGHT, turns } from "./turns";

const RIGHTS = new RegExp(`[${RIGHT}]`, "gu");
const MARK = /\p{M}/gu;
/** Characters without a form of their own. Those that join letters are as cheap as letters. */
const ODD = /(?![\n\r\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}]/gu;

/** So many stretches of one direction can stand in one line: the work grows with their square. */
const STRETCHES = 2000;
/** So many of these are as much work as one stretch. */
const MARKS = 8;
const ODDS = 10;
const SCRIPTS = 5;
const LETTERS = 20;
const LOOKED_UP = 8;

/** Letters of Thai, Lao, Burmese, Khmer and the like. Only a dictionary tells where their words end. */
const UNSPACED = /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1980-\u19ff\u1a20-\u1aaf\ua9e0-\ua9ff\uaa60-\uaadf]/;

/** Longer stretches of them are drawn with places for a break. */
export const LONG_UNSPACED = 4000;

/** The length of the longest stretch without blanks in which there are such letters. */
export function unspaced(text: string): number {
  if (!UNSPACED.test(text)) return 0;
  return text.split(/[ \t\n\r]+/).reduce((most, word) => (word.length > most && UNSPACED.test(word) ? word.length : most), 0);
}

/** Shorter texts are no work, whatever they are, but for marks. */
const SHORT = 2000;

/** Whether a field can hold the text, and a person can write in it. */
export function fitsField(text: string): boolean {
  if (isDense(text)) return false;
  if (text.length <= SHORT) return true;
  let rest = STRETCHES * STRETCHES;
  for (const line of text.split("\n")) {
    rest -= strain(line) ** 2;
    if (rest < 0) return false;
  }
  return true;
}

function strain(line: string): number {
  const turned = turns(line) + count(line, RIGHTS) / LETTERS;
  return turned + scripts(line) / SCRIPTS + count(line, MARK) / MARKS + count(line, ODD) / ODDS + unspaced(line) / LOOKED_UP;
}

/** How often the script changes, and with it the font: a browser looks through all changes in a line for each line that it breaks. */
export function scripts(text: string): number {
  let found = 0;
  let before = 0;
  for (let index = 0; index < text.length; index += 1) {
    const script = scriptOf(text.charCodeAt(index), before);
    if (script !== before) found += 1;
    before = script;
  }
  return found;
}

/** A number for the script of a character, near enough. Latin, Greek and Cyrillic letters are in every font. */
function scriptOf(code: number, before: number): number {
  if (code < 0x530 || (code >= 0x1e00 && code < 0x200c)) return 0;
  // What joins others has their font.
  if (code === 0x200c || code === 0x200d || code === 0xfe0f) return before;
  if (code < 0x2070) return code < 0x1e00 ? code >> 7 : 0;
  if (code >= 0x2e80 && code < 0xa4d0) return 1;
  if (code >= 0xd800 && code < 0xe000) return 2;
  return code >= 0xac00 && code < 0xd800 ? 3 : code >> 7;
}

function count(line: string, what: RegExp): number {
  let found = 0;
  what.lastIndex = 0;
  while (what.test(line)) found += 1;
  return found;
}
