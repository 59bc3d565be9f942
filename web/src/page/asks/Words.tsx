import { shown } from "../../log/shown";
import { Box } from "./Box";

/** Longer words have a box of their own: they must be read to their end, and do not push what follows away. */
const LINES = 8;
const CHARACTERS = 800;

export const isLong = (text: string): boolean => text.length > CHARACTERS || text.split("\n").length > LINES;

/** What an agent says in a question. */
export function Words({ text }: { text: string }) {
  if (!isLong(text)) return <span className="lines-kept">{shown(text)}</span>;
  return (
    <Box
      text={text}
      draw={({ className, ...box }, content) => (
        <div className={`text long-words lines-kept ${className}`} {...box}>
          {content}
        </div>
      )}
    />
  );
}
