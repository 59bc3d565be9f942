import { useWords } from "../words/words";
import type { Chunk } from "./chunk";

/** Draws more of a long text. What has this in it was not read to its end (`useReading`). */
export function More({ chunk: { rest, next, more } }: { chunk: Chunk }) {
  const { say, count } = useWords();
  if (rest === 0) return null;
  return (
    <button type="button" className="link" data-more onClick={more}>
      {say("moreCharacters", count(next), count(rest))}
    </button>
  );
}
