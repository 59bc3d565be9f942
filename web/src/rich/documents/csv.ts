// Comma-separated values as RFC 4180 has them.

export interface Sheet {
  rows: string[][];
  /** How many rows the text has; those beyond the wanted number are only counted. */
  total: number;
}

/** The first `most` rows. Never fails: a quote in the wrong place is a character like others. */
export function parse(text: string, most: number): Sheet {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let quoted = false;
  let total = 0;
  const separator = separatorOf(text);
  const endRow = () => {
    row.push(cell);
    if (rows.length < most) rows.push(row);
    total += 1;
    row = [];
    cell = "";
  };
  for (let index = text.startsWith("\ufeff") ? 1 : 0; index < text.length; index += 1) {
    const sign = text[index] ?? "";
    if (quoted) {
      if (sign !== '"') cell += sign;
      else if (text[index + 1] === '"') {
        cell += '"';
        index += 1;
      } else quoted = false;
    } else if (sign === '"' && cell === "") quoted = true;
    else if (sign === separator) {
      row.push(cell);
      cell = "";
    } else if (sign === "\n") endRow();
    else if (sign !== "\r" || text[index + 1] !== "\n") cell += sign;
  }
  if (cell !== "" || row.length > 0) endRow();
  return { rows, total };
}

/** A file of a spreadsheet may have semicolons or tabs instead: what the first line has most of. */
function separatorOf(text: string): string {
  const head = text.slice(0, 2000).split("\n", 1)[0] ?? "";
  const count = (sign: string) => head.split(sign).length;
  return [",", ";", "\t"].reduce((best, sign) => (count(sign) > count(best) ? sign : best));
}

/** Columns beyond these are not looked at. */
const WIDEST = 200;

/** Columns whose cells are numbers, with or without a unit, stand to the right. */
export function numeric(rows: readonly string[][]): boolean[] {
  const width = Math.min(WIDEST, Math.max(0, ...rows.slice(0, 200).map((row) => row.length)));
  return Array.from({ length: width }, (_, column) => {
    const cells = rows.slice(1, 200).flatMap((row) => row[column]?.trim() || []);
    return cells.length > 0 && cells.every((cell) => /^[-+−]?[$€£¥]?[\d.,\s]*\d\s?(?:%|[a-zµ]{1,3})?$/i.test(cell));
  });
}
