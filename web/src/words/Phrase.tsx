import { Fragment, type ReactNode } from "react";

import type { Key } from "./words";
import { textOf, useWords } from "./words";

/** A text with elements in its gaps: `<Phrase k="always" values={[<code>execute</code>]} />`. */
export function Phrase({ k, values }: { k: Key; values: ReactNode[] }) {
  const { language } = useWords();
  const pieces = textOf(k, language).split(/\{(\d)\}/);
  return pieces.map((piece, index) => <Fragment key={index}>{index % 2 === 1 ? values[Number(piece)] : piece}</Fragment>);
}
