// JSON in which every number stays as it is written. A script rounds integers above 2^53, and a person would approve another number
// than the one that is used.

/** A number that a script cannot hold, by its digits. */
export class ExactNumber {
  constructor(readonly text: string) {}
}

/** Numbers that may be too long, or too large. Most texts have none, and are read by the browser alone. */
const LONG = /(?:^|[[:,\s])-?\d(?:\d{15}|[\d.]{18}|[\d.]*[eE][-+]?\d{3})/;
const TOKEN = /["\d-]/g;
const STOP = /["\\]/g;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y;
/** What follows a name: a number is none. */
const NAMED = /\s*:/y;

/** Begins a string that stands for a number. Nobody else knows it: no text can be mistaken for one. */
const MARK = `${[...crypto.getRandomValues(new Uint32Array(4))].join("-")}:`;
const MARKED = new RegExp(`"${MARK}([^"]*)"`, "g");

/** Whether there was ever such a number. */
let met = false;

export function readJson(text: string): unknown {
  if (!LONG.test(text)) return JSON.parse(text) as unknown;
  const marked = withMarks(text);
  if (marked === text) return JSON.parse(text) as unknown;
  met = true;
  return JSON.parse(marked, (_, value: unknown) => (typeof value === "string" && value.startsWith(MARK) ? new ExactNumber(value.slice(MARK.length)) : value)) as unknown;
}

export function writeJson(value: unknown, space?: number): string {
  if (!met) return JSON.stringify(value, null, space);
  const marked = JSON.stringify(value, (_, item: unknown) => (item instanceof ExactNumber ? MARK + item.text : item), space) as string | undefined;
  // As `JSON.stringify`: nothing is not written.
  return marked?.replace(MARKED, "$1") as string;
}

/** The text with a string for each number that a script would change. */
function withMarks(text: string): string {
  const parts: string[] = [];
  let from = 0;
  TOKEN.lastIndex = 0;
  for (let token = TOKEN.exec(text); token; token = TOKEN.exec(text)) {
    const { index } = token;
    if (token[0] === '"') {
      TOKEN.lastIndex = afterString(text, index + 1);
      continue;
    }
    const number = matched(NUMBER, text, index);
    if (number === "") continue;
    const end = index + number.length;
    TOKEN.lastIndex = end;
    if (!changes(number) || matched(NAMED, text, end) !== "") continue;
    parts.push(text.slice(from, index), `"${MARK}${number}"`);
    from = end;
  }
  return parts.length === 0 ? text : parts.join("") + text.slice(from);
}

function matched(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
}

/** The place after the quotation mark that ends a string. */
function afterString(text: string, from: number): number {
  let at = from;
  for (;;) {
    STOP.lastIndex = at;
    const stop = STOP.exec(text);
    if (!stop) return text.length;
    if (stop[0] === '"') return stop.index + 1;
    at = stop.index + 2;
  }
}

function changes(number: string): boolean {
  return LONG.test(number) && String(Number(number)) !== number;
}
