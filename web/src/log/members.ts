// The strings of a JSON object that is still being written, as far as they have arrived. Pure: each piece is read once.

export interface Members {
  /** The strings of the object itself. Other values, and what is inside of them, are left out. */
  readonly values: Readonly<Record<string, string>>;
  /** How many brackets are open. */
  readonly depth: number;
  /** What is read: a key, a string of the object, a string to be left out, or what is between strings. */
  readonly place: "key" | "value" | "other" | "between";
  /** Whether the next string of the object is a value. */
  readonly wanted: boolean;
  readonly key: string;
  /** The beginning of an escape whose end has not arrived. */
  readonly held: string;
}

export const NO_MEMBERS: Members = { values: {}, depth: 0, place: "between", wanted: false, key: "", held: "" };

/** Whoever has more members than this has no document in them. */
const MOST = 32;
const ESCAPES: Record<string, string> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };
/** What may become the second half of a surrogate pair. */
const BEGINNING = /^(\\(u([0-9a-f]{0,3}))?)?$/i;

/** The members after one more piece of the text. A text that is not JSON gives whatever can be made of it. */
export function read(before: Members, piece: string): Members {
  const { place, depth, wanted, key } = before;
  const now = { place, depth, wanted, key, values: { ...before.values } };
  const text = before.held + piece;
  let at = 0;
  while (at < text.length) {
    if (now.place === "between") {
      step(now, text.charAt(at));
      at += 1;
      continue;
    }
    const stop = nextStop(text, at);
    append(now, text.slice(at, stop));
    if (stop === text.length) break;
    if (text[stop] === '"') {
      now.place = "between";
      at = stop + 1;
      continue;
    }
    const escape = unescaped(text, stop);
    if (!escape) return { ...now, held: text.slice(stop) };
    append(now, escape.text);
    at = escape.end;
  }
  return { ...now, held: "" };
}

/** A string of the object that has arrived to its end. */
export function whole({ values, place, key }: Members, name: string): string | null {
  return Object.hasOwn(values, name) && !(place === "value" && key === name) ? (values[name] ?? null) : null;
}

type Reading = { -readonly [Name in Exclude<keyof Members, "held" | "values">]: Members[Name] } & { values: Record<string, string> };

function step(now: Reading, sign: string): void {
  const own = now.depth === 1;
  if (sign === "{" || sign === "[") {
    now.depth += 1;
    now.wanted = false;
  } else if (sign === "}" || sign === "]") now.depth = Math.max(0, now.depth - 1);
  else if (own && sign === ":") now.wanted = true;
  else if (own && sign === ",") now.wanted = false;
  else if (sign === '"') {
    now.place = !own ? "other" : now.wanted ? "value" : "key";
    if (now.place === "key") now.key = "";
    // The last one of several members with the same name counts, as in JSON.parse.
    if (now.place === "value" && (Object.hasOwn(now.values, now.key) || Object.keys(now.values).length < MOST)) define(now.values, now.key, "");
  }
}

function append(now: Reading, text: string): void {
  if (now.place === "key") now.key += text;
  else if (now.place === "value" && Object.hasOwn(now.values, now.key)) define(now.values, now.key, (now.values[now.key] ?? "") + text);
}

/** A member may have any name, also `__proto__`. */
function define(values: Record<string, string>, name: string, value: string): void {
  Object.defineProperty(values, name, { value, enumerable: true, configurable: true, writable: true });
}

/** The place of the next quotation mark or backslash, or the end. */
function nextStop(text: string, from: number): number {
  // Not indexOf for each of the two: the other one may be far away, again and again.
  const stop = /["\\]/g;
  stop.lastIndex = from;
  return stop.exec(text)?.index ?? text.length;
}

/** What the escape at this place says, and where it ends; null if its end has not arrived. */
function unescaped(text: string, at: number): { text: string; end: number } | null {
  const sign = text[at + 1];
  if (sign === undefined) return null;
  if (sign !== "u") return { text: ESCAPES[sign] ?? sign, end: at + 2 };
  const first = unit(text, at);
  if (first === null) return text.length < at + 6 ? null : { text: "\ufffd", end: at + 2 };
  const rest = text.slice(at + 6, at + 12);
  // Half of a character is not shown: its other half may be in the next piece.
  if (first >= 0xd800 && first < 0xdc00 && at + 6 + rest.length === text.length && BEGINNING.test(rest)) return null;
  const second = rest.startsWith("\\u") ? unit(text, at + 6) : null;
  if (first >= 0xd800 && first < 0xdc00 && second !== null && second >= 0xdc00 && second < 0xe000) return { text: String.fromCharCode(first, second), end: at + 12 };
  return { text: first >= 0xd800 && first < 0xe000 ? "\ufffd" : String.fromCharCode(first), end: at + 6 };
}

/** The number in an escape such as `\u00e9`. */
function unit(text: string, at: number): number | null {
  const digits = text.slice(at + 2, at + 6);
  return /^[0-9a-f]{4}$/i.test(digits) ? parseInt(digits, 16) : null;
}
