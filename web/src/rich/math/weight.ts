// How much work the formulas of a text are. Each sign of one becomes an element, and a formula is laid out as a whole.
import type { Nodes } from "mdast";

/** Longer formulas are shown as they were written. */
export const LONGEST = 4000;
/** A formula is as much work as so many of its signs, however short it is. */
const EACH = 10;
/** Texts with more are shown as they were written. */
export const HEAVIEST = 40_000;

const MARK = /\$|\\[([]/;

interface Written {
  source: string;
  /** What the parser made of the source, where that is known. */
  nodes: readonly Nodes[] | null;
}

const known = new WeakMap<Written, number>();

/** The weight of the formulas in a part of a text. */
export function weightOf(part: Written): number {
  const found = known.get(part) ?? (part.nodes ? sum(part.nodes) : MARK.test(part.source) ? part.source.length : 0);
  known.set(part, found);
  return found;
}

function sum(nodes: readonly Nodes[]): number {
  let all = 0;
  for (const node of nodes) {
    if (node.type === "formula" || (node.type === "code" && node.lang === "math")) all += node.value.length > LONGEST ? 0 : EACH + node.value.length;
    else if ("children" in node) all += sum(node.children);
  }
  return all;
}
