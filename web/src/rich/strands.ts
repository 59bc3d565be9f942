import { createElement, type ReactNode } from "react";

import { breaksAfter, strands as nodes } from "../log/strands";

/** The nodes of a text as they are drawn. Where a line without blanks is long, it may be broken between two of them. */
export function strands(text: string): ReactNode[] {
  return nodes(text).flatMap((node, index, all) => (index < all.length - 1 && breaksAfter(node) ? [node, createElement("wbr", { key: index })] : [node]));
}
