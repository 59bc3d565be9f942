// The end of a text that is still written: what is begun there is shown as it will look, so that nothing flickers.

const FENCE = /^ {0,3}(`{3,}|~{3,})[^\n]*\n/;
// A line that so far has nothing but marks: it may become a list, a heading, a table, a rule or anything else.
const MARKS = /^(?:[-=+*_~`#|:<]+|\d{1,9}[.)]?|(?:[-+*]|\d{1,9}[.)])[ \t]+(?:\[[ xX]?\]?|[-=+*_~`#]+)|!?\[)?$/;
const ROW = /^ {0,3}\|.*[^|\s]/;
const DELIMITERS = /^ {0,3}\|[ \t:|-]*$/;

/** The source of the last block of a text that still grows. */
export function mend(source: string): string {
  const fence = FENCE.exec(source);
  if (fence) return withoutHalfFence(source, fence[1] ?? "```");
  const first = source.length - source.trimStart().length;
  const one = breakFrom(source, 0);
  const two = breakFrom(source, one + 1);
  let end = source.length;
  // Lines that have nothing but marks are not shown yet.
  for (;;) {
    if (end <= first) return "";
    const start = end === 0 ? 0 : source.lastIndexOf("\n", end - 1) + 1;
    const last = source.slice(start, end);
    const head = source.slice(0, Math.min(one, end));
    if (end <= two && ROW.test(head) && (end <= one || DELIMITERS.test(last))) return withTable(head);
    if (!onlyMarks(last)) return ended(source.slice(0, end));
    end = start - 1;
  }
}

/** Where the line ends. */
function breakFrom(source: string, from: number): number {
  const found = source.indexOf("\n", from);
  return found < 0 ? source.length : found;
}

function onlyMarks(line: string): boolean {
  let start = 0;
  while (line[start] === " " || line[start] === "\t" || line[start] === ">") start += 1;
  let end = line.length;
  while (end > start && (line[end - 1] === " " || line[end - 1] === "\t")) end -= 1;
  return MARKS.test(line.slice(start, end));
}

/** What closes an open mark must not come after blank lines, and a paragraph ends at one. */
function ended(source: string): string {
  const start = afterBlankLine(source);
  const paragraph = source.slice(start).trimEnd();
  return source.slice(0, start) + closed(paragraph) + source.slice(start + paragraph.length);
}

/** Where the last paragraph begins. */
function afterBlankLine(source: string): number {
  let end = source.lastIndexOf("\n");
  while (end > 0) {
    const before = source.lastIndexOf("\n", end - 1);
    if (before >= 0 && /^[ \t]*$/.test(source.slice(before + 1, end))) return end + 1;
    end = before;
  }
  return 0;
}

/** The first signs of a closing fence are not code. */
function withoutHalfFence(source: string, fence: string): string {
  const start = source.lastIndexOf("\n") + 1;
  const last = source.slice(start).trim();
  const half = last !== "" && last.length < fence.length && [...last].every((sign) => sign === fence[0]);
  return half ? source.slice(0, start) : source;
}

/** A row is the head of a table before the line below it has come. */
function withTable(head: string): string {
  const cells = head.trim().replace(/^\||(?<!\\)\|$/g, "").split(/(?<!\\)\|/).length;
  return `${head}\n|${"---|".repeat(cells)}`;
}

interface Open {
  mark: string;
  at: number;
}

/** Closes code, emphasis and links that are open at the end. */
function closed(text: string): string {
  const open: Open[] = [];
  let link = -1;
  let index = 0;
  while (index < text.length) {
    const sign = text[index] ?? "";
    if (sign === "\\") index += 2;
    else if (sign === "`") {
      const run = runAt(text, index);
      const end = closingTicks(text, index + run.length, run.length);
      if (end < 0) return finish(text, open, run, index);
      index = end + run.length;
    } else if (sign === "*" || sign === "_" || sign === "~") {
      const run = runAt(text, index);
      emphasis(open, text, run, index);
      index += run.length;
    } else {
      if (sign === "[") link = index;
      else if (sign === "]" && link >= 0 && text[index + 1] !== "(") link = -1;
      else if (sign === ")" && link >= 0) link = -1;
      index += 1;
    }
  }
  if (link >= 0) return finish(withoutLink(text, link), open.filter((item) => item.at < link), "", -1);
  return finish(text, open, "", -1);
}

function runAt(text: string, index: number): string {
  let end = index;
  while (text[end] === text[index]) end += 1;
  return text.slice(index, end);
}

function closingTicks(text: string, from: number, length: number): number {
  let index = text.indexOf("`", from);
  while (index >= 0) {
    const run = runAt(text, index);
    if (run.length === length) return index;
    index = text.indexOf("`", index + run.length);
  }
  return -1;
}

function emphasis(open: Open[], text: string, run: string, index: number): void {
  const before = text[index - 1] ?? " ";
  const after = text[index + run.length] ?? "";
  const letter = /[\p{L}\p{N}]/u;
  if (run[0] === "~" && run.length !== 2) return;
  if (run[0] === "_" && letter.test(before) && letter.test(after)) return;
  let left = run;
  if (!/\s/.test(before))
    while (left !== "" && open.at(-1)?.mark[0] === left[0]) {
      const { mark = "" } = open.at(-1) ?? {};
      if (left.length < mark.length) break;
      open.pop();
      left = left.slice(mark.length);
    }
  if (left === "" || left.length > 3 || after === "" || /\s/.test(after)) return;
  open.push({ mark: left, at: index });
}

/** `[words](addr` is shown as its words until the address is complete; a picture is left out until then. */
function withoutLink(text: string, link: number): string {
  const start = text[link - 1] === "!" ? link - 1 : link;
  const words = text[link - 1] === "!" ? "" : text.slice(link + 1).replace(/\]\([^]*$|\]$/, "");
  return text.slice(0, start) + words;
}

function finish(text: string, open: readonly Open[], ticks: string, at: number): string {
  let shown = text;
  if (ticks !== "") {
    // Nothing after the ticks: they are not shown yet.
    const begun = text.slice(at + ticks.length).trim() === "";
    shown = begun ? text.slice(0, at) : without(text, "`") + ticks;
  } else {
    const rest = without(text, "*_~\\");
    if (rest !== text && !needed(text, text.slice(rest.length))) shown = rest;
  }
  if (open.length === 0) return shown;
  return shown.trimEnd() + [...open].reverse().map(({ mark }) => mark).join("");
}

/** The text without the signs at its end that are among these. */
function without(text: string, signs: string): string {
  let end = text.length;
  while (end > 0 && signs.includes(text[end - 1] ?? " ")) end -= 1;
  return text.slice(0, end);
}

/** Marks at the very end stay if they close something: then nothing that they could open is left. */
function needed(text: string, end: string): boolean {
  if (end.startsWith("\\")) return false;
  const before = text.slice(0, text.length - end.length);
  const stack: Open[] = [];
  scan(before, stack);
  emphasis(stack, text, end, before.length);
  const whole: Open[] = [];
  scan(before, whole);
  return stack.length < whole.length && consumed(whole, end);
}

function consumed(open: readonly Open[], end: string): boolean {
  let left = end.length;
  for (const { mark } of [...open].reverse()) {
    if (mark[0] !== end[0] || mark.length > left) break;
    left -= mark.length;
  }
  return left === 0;
}

function scan(text: string, open: Open[]): void {
  let index = 0;
  while (index < text.length) {
    const sign = text[index] ?? "";
    if (sign === "\\") index += 2;
    else if (sign === "`") {
      const run = runAt(text, index);
      const end = closingTicks(text, index + run.length, run.length);
      index = end < 0 ? index + run.length : end + run.length;
    } else if (sign === "*" || sign === "_" || sign === "~") {
      const run = runAt(text, index);
      emphasis(open, text, run, index);
      index += run.length;
    } else index += 1;
  }
}
