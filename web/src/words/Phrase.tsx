import { Fragment, type ReactNode } from "react";

import { TEXTS, type Key } from "./texts";
import { useWords } from "./words";

/** A text with elements in its gaps: `<Phrase k="always" values={[<code>execute</code>]} />`. */
export function Phrase({ k, values }: { k: Key; values: ReactNode[] }) {
  const { language } = useWords();
  const pieces = TEXTS[k][language === "zh" ? 1 : 0].split(/\{(\d)\}/);
  return pieces.map((piece, index) => <Fragment key={index}>{index % 2 === 1 ? values[Number(piece)] : piece}</Fragment>);
}
