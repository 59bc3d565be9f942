// How often the direction of a text changes.

/** Letters that are written from right to left. */
export const RIGHT = "\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefc\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}";
/** Characters that change the direction of others. */
const TURNS = "\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069";
const BOTH = new RegExp(`[${RIGHT}${TURNS}]`, "u");
// Parts of one direction. Numbers have their own within letters from the right.
const PART = new RegExp(`(?<turn>[${TURNS}])|(?<right>[${RIGHT}]+)|[^\\P{L}${RIGHT}]+|\\p{N}+`, "gu");

/** How often the direction of a text changes, or might. */
export function turns(text: string): number {
  return BOTH.test(text) ? stretches(text) : 0;
}

/** How often the direction changes, or might. */
function stretches(line: string): number {
  let found = 0;
  let before = "";
  for (const { groups } of line.matchAll(PART)) {
    const kind = groups?.turn !== undefined ? "turn" : groups?.right !== undefined ? "right" : "left";
    if (kind === "turn" || kind !== before) found += 1;
    before = kind;
  }
  return found;
}
