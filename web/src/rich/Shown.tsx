import { memo, useMemo } from "react";

import { pieces } from "../log/pieces";
import { LONG_UNSPACED, unspaced } from "../log/strain";
import { isTangled } from "../log/strands";
import { useWords } from "../words/words";
import { useChunk } from "./chunk";
import { More } from "./More";
import { strands } from "./strands";

interface ShownProps {
  text: string;
  /** In a message only what hides or reorders its words is marked, not what joins letters or emoji. */
  message?: boolean;
  /** So many places with hidden characters are marked. */
  marks?: number;
  /** It is a part of a line, and not its beginning. */
  inner?: boolean;
}

/** A text of somebody else. Hidden characters are marked, so that nobody takes them for words, or words for them. */
export const Shown = memo(function Shown({ text, message = false, marks, inner = false }: ShownProps) {
  const { say, count } = useWords();
  const chunk = useChunk(text);
  // What is hidden may stand within a line that turns around too often: all of the text is in one order then.
  const tangled = useMemo(() => isTangled(chunk.head), [chunk.head]);
  // What is marked stands between nodes that are too short to have places for a break.
  const unbroken = useMemo(() => unspaced(chunk.head) > LONG_UNSPACED, [chunk.head]);
  const words = (
    <>
      {pieces(chunk.head, message ? "misleading" : "all", marks, !inner).map((piece, index) =>
        piece.hidden !== null ? (
          <span key={index} className="escape" title={piece.hidden}>
            {piece.text}
            {unbroken ? <wbr /> : null}
          </span>
        ) : piece.unmarked === undefined ? (
          strands(piece.text)
        ) : (
          <span key={index}>
            <span className="escape unmarked">{say("unmarked", count(piece.unmarked))}</span>
            {strands(piece.text)}
          </span>
        ),
      )}
      <More chunk={chunk} />
    </>
  );
  return tangled ? <span className="exact">{words}</span> : words;
});
