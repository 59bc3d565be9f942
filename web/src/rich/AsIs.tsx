import { memo } from "react";

import { drawn } from "../log/shown";
import { untangled } from "../log/strands";
import { useChunk } from "./chunk";
import { More } from "./More";
import { strands } from "./strands";

/** So much of a text is drawn at first. */
const FIRST = 200_000;

/** A text as it was written, however long it and its lines are. */
export const AsIs = memo(function AsIs({ text }: { text: string }) {
  const chunk = useChunk(text, FIRST);
  return (
    <>
      <Nodes text={drawn(chunk.head)} />
      <More chunk={chunk} />
    </>
  );
});

/** A text of which all is drawn. Its first and last lines may stand in a line with what is around it. */
export function Nodes({ text }: { text: string }) {
  const groups = untangled(text);
  return groups.map((lines, index) => {
    const apart = index > 0 && index < groups.length - 1;
    if (!apart && !lines.tangled) return strands(lines.text);
    return (
      <span key={index} className={`${apart ? "lines-apart" : ""} ${lines.tangled ? "exact" : ""}`}>
        {strands(apart ? ended(lines.text) : lines.text)}
      </span>
    );
  });
}

/** A block ends its last line by itself, but not one that is empty. */
function ended(text: string): string {
  return text.endsWith("\n") && !text.endsWith("\n\n") && text !== "\n" ? text.slice(0, -1) : text;
}
