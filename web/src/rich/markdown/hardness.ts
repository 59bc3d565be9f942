// How much work a text is for the parser and the page, counted in one pass: some short texts would take minutes.
import { isDense } from "../../log/shown";
import { LONG_UNSPACED, scripts, unspaced } from "../../log/strain";

/** Longer texts are shown as they are. */
const LONGEST = 300_000;
/** Blocks, cells, marks and links, all together: each becomes at least one element. */
const NODES = 10_000;
/** A block of code has a frame, a button and more: as many nodes. */
const CODE = 10;
/** Quotes and lists in each other. */
const DEPTH = 60;
/** Footnotes are numbered over the whole text, and each one costs a search for all others. */
const FOOTNOTES = 500;
/** Code begins with any number of backticks. For each number, the parser may read the whole text in vain. */
const TICKS = 16;
/** What grows with the square of the marks that stand in one paragraph, over all paragraphs. */
const SQUARES = 4_000_000;
/** So many changes of the script in a paragraph are as much work as one mark. */
const SCRIPTS = 5;
/** What is read again for each mark that is never closed: characters. */
const READINGS = 3_000_000;

/** A title or an address that ends within so many characters is soon read. */
const NEAR = 300;
/** Parentheses in each other that an address may have. */
const PARENTHESES = 32;

/** Shorter runs of signs are as cheap as words. */
const RUN = 100;

const END = /\r\n|\n|\r(?!$)/g;
const FENCE = /^(`{3,}|~{3,})/;
const CLOSED = /^ {0,3}(`{3,}|~{3,})[ \t]*$/;
// After such a line a fence at the beginning of a line may be something else: then nothing is taken for code.
const UNSURE = /^ {1,3}(?:```|~~~)|^ {0,3}<[A-Za-z!?/]/;
const DELIMITERS = /^[ \t>|:-]*$/;
const BLANK = /^(?: {0,3}>)*[ \t]*$/;
// What surely begins another paragraph.
const BEGINS = /^ {0,3}(?:[-+*] {1,3}[^ \t]|#{1,6} )/;

/** What was counted in the complete lines of a text. */
interface Counts {
  nodes: number;
  footnotes: number;
  brackets: number;
  squares: number;
  readings: number;
  ticks: ReadonlySet<number>;
  /** What began the code that the lines belong to. */
  fence: string;
  unsure: boolean;
  /** Columns of the table that the lines belong to. */
  columns: number;
  /** In the paragraph so far. */
  here: { brackets: number; marks: number; scripts: number; markup: number; length: number };
  hard: boolean;
}

export interface Hardness {
  text: string;
  /** Shown as it is. */
  hard: boolean;
  /** How many names of links there may be. */
  brackets: number;
  /** The complete lines end here, and have these counts. */
  from: number;
  counts: Counts;
}

const NOTHING: Counts = {
  nodes: 0,
  footnotes: 0,
  brackets: 0,
  squares: 0,
  readings: 0,
  ticks: new Set(),
  fence: "",
  unsure: false,
  columns: 0,
  here: { brackets: 0, marks: 0, scripts: 0, markup: 0, length: 0 },
  hard: false,
};
export const EASY: Hardness = { text: "", hard: false, brackets: 0, from: 0, counts: NOTHING };

/** How hard a text is. If it continues the text of `known`, only the lines that are new are looked at. */
export function hardness(text: string, known: Hardness = EASY): Hardness {
  if (text.length > LONGEST) return { ...EASY, text, hard: true };
  let { from, counts } = text.startsWith(known.text) ? known : EASY;
  END.lastIndex = from;
  for (let end = END.exec(text); end && !counts.hard; end = END.exec(text)) {
    counts = counted(counts, text.slice(from, end.index));
    from = END.lastIndex;
  }
  const all = counts.hard ? counts : counted(counts, text.slice(from));
  return { text, hard: all.hard, brackets: all.brackets, from, counts };
}

function counted(before: Counts, line: string): Counts {
  // Marks on a letter cost a browser the square of their number, also in code.
  if (isDense(line)) return { ...before, hard: true };
  if (before.fence !== "") return closes(line, before.fence) ? { ...before, fence: "" } : before;
  if (unspaced(line) > LONG_UNSPACED) return { ...before, hard: true };
  const unsure = before.unsure || UNSURE.test(line);
  const fence = opened(line);
  const depth = depthOf(line);
  const apart = BLANK.test(line) || BEGINS.test(line);
  const here = apart ? NOTHING.here : before.here;
  const found = signs(line, before.ticks);
  const now = { brackets: here.brackets + found.brackets + found.closing, marks: here.marks + found.marks, scripts: here.scripts + scripts(line) / SCRIPTS, markup: here.markup + found.markup, length: here.length + line.length };
  const columns = BLANK.test(line) ? 0 : delimiters(line) ? found.pipes + 1 : before.columns;
  const after: Counts = {
    nodes: before.nodes + 1 + depth + found.marks + found.brackets + found.others + Math.max(found.pipes, columns) + (fence === "" ? 0 : CODE),
    footnotes: before.footnotes + found.footnotes,
    brackets: before.brackets + found.brackets,
    squares: before.squares + found.squares + grown(here.brackets, now.brackets) + grown(here.marks, now.marks) + grown(here.scripts, now.scripts),
    readings: before.readings + now.markup * now.length - here.markup * here.length,
    ticks: found.ticks,
    fence: unsure ? "" : fence,
    unsure,
    columns,
    here: now,
    hard: false,
  };
  return { ...after, hard: depth > DEPTH || tooMuch(after) };
}

function tooMuch({ nodes, footnotes, ticks, squares, readings }: Counts): boolean {
  return nodes > NODES || footnotes > FOOTNOTES || ticks.size > TICKS || squares > SQUARES || readings > READINGS;
}

function grown(before: number, after: number): number {
  return after * after - before * before;
}

function opened(line: string): string {
  const fence = FENCE.exec(line)?.[1] ?? "";
  return fence.startsWith("`") && line.includes("`", fence.length) ? "" : fence;
}

function closes(line: string, fence: string): boolean {
  const found = CLOSED.exec(line)?.[1] ?? "";
  return found.length >= fence.length && found[0] === fence[0];
}

function delimiters(line: string): boolean {
  return DELIMITERS.test(line) && line.includes("-") && line.includes("|");
}

/** How deep the line may be in quotes and lists: by the signs before its words, and by its indentation. */
function depthOf(line: string): number {
  let blanks = 0;
  let markers = 0;
  let index = 0;
  for (; index < line.length; index += 1) {
    const sign = line[index] ?? "";
    const next = line[index + 1] ?? " ";
    if (sign === " ") blanks += 1;
    else if (sign === "\t") blanks += 4;
    else if (sign === ">") markers += 1;
    else if ((sign === "-" || sign === "+" || sign === "*" || sign === "." || sign === ")") && (next === " " || next === "\t")) markers += 1;
    else if (sign < "0" || sign > "9") break;
  }
  // Indented words are no list, however far they are indented.
  return markers === 0 ? 0 : markers + Math.floor(blanks / 2);
}

interface Signs {
  brackets: number;
  closing: number;
  footnotes: number;
  marks: number;
  /** Beginnings of comments, of titles of links and the like. */
  markup: number;
  /** Signs that may begin markup, an entity or an address. */
  others: number;
  pipes: number;
  squares: number;
  ticks: ReadonlySet<number>;
}

/** Counts the signs of a line, and runs of them. */
function signs(line: string, known: ReadonlySet<number>): Signs {
  const found = { brackets: 0, closing: 0, footnotes: 0, marks: 0, markup: 0, others: 0, pipes: 0, squares: 0, ticks: known };
  let run = 0;
  for (let index = 0; index < line.length; index += 1) {
    if (!punctuation(line.charCodeAt(index))) {
      run = 0;
      continue;
    }
    run += 1;
    // A long run of signs is read again from each of them.
    if (run > RUN) found.squares += run;
    const sign = line[index];
    const next = line[index + 1];
    const first = line[index - 1] !== sign;
    if (sign === "[") {
      found.brackets += 1;
      if (next === "^") found.footnotes += 1;
    } else if (sign === "]") {
      found.closing += 1;
      if (next === "(" && readsOn(line, index + 2)) found.markup += 1;
    } else if (sign === "|") found.pipes += 1;
    else if (sign === "<" || sign === "&" || sign === "@") {
      found.others += 1;
      if (sign === "<" && (next === "!" || next === "?")) found.markup += 1;
    } else if (sign === ":" && next === "/") {
      // An address in plain words: it is read, and undone where it follows a backslash.
      found.others += 1;
    } else if (sign === "`" && first) found.ticks = withRun(found.ticks, line, index);
    // A formula: it is counted at one of its ends at the least. A price is none.
    else if (sign === "$" && !(next !== undefined && next >= "0" && next <= "9")) found.others += 1;
    else if (sign === "\\" && (next === "(" || next === "[")) found.others += 2;
    else if ((sign === "*" || sign === "_" || sign === "~") && first) found.marks += 1;
  }
  return found;
}

/** Whether the parser may read from here, where a link has its address, far beyond the link: its title is not closed, or comes in another line. */
function readsOn(line: string, start: number): boolean {
  let at = afterBlanks(line, start);
  if (line[at] === "<") {
    const end = closing(line, at + 1, ">");
    if (end < 0) return line.length - at > NEAR;
    at = end + 1;
  } else {
    at = afterAddress(line, at);
    if (at < 0) return false;
  }
  const title = afterBlanks(line, at);
  if (title >= line.length) return true;
  const sign = line[title] ?? "";
  return title > at && (sign === '"' || sign === "'" || sign === "(") && closing(line, title + 1, sign === "(" ? ")" : sign) < 0;
}

function afterBlanks(line: string, from: number): number {
  let at = from;
  while (line[at] === " " || line[at] === "\t") at += 1;
  return at;
}

/** Where a sign stands near by, or -1. */
function closing(line: string, from: number, sign: string): number {
  const most = Math.min(line.length, from + NEAR);
  for (let at = from; at < most; at += 1) {
    if (line[at] === sign) return at;
    if (line[at] === "\\") at += 1;
  }
  return -1;
}

/** Where an address ends, or -1 if the link ends with it, or is none. */
function afterAddress(line: string, from: number): number {
  let depth = 0;
  for (let at = from; at < line.length; at += 1) {
    const sign = line[at] ?? "";
    if (sign === " " || sign === "\t") return depth === 0 ? at : -1;
    if (sign === "\\") at += 1;
    else if (sign === "(") depth += 1;
    else if (sign === ")") depth -= 1;
    if (depth < 0 || depth > PARENTHESES) return -1;
  }
  return depth === 0 ? line.length : -1;
}

function punctuation(code: number): boolean {
  return (code > 32 && code < 48) || (code > 57 && code < 65) || (code > 90 && code < 97) || (code > 122 && code < 127);
}

function withRun(ticks: ReadonlySet<number>, line: string, start: number): ReadonlySet<number> {
  let end = start;
  while (line[end] === "`") end += 1;
  return ticks.has(end - start) ? ticks : new Set([...ticks, end - start]);
}
