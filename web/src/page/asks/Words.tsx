import { shown } from "../../log/shown";
import { Box } from "./Box";

/** Longer words have a box of their own: they must be read to their end, and do not push what follows away. */
const LINES = 8;
const CHARACTERS = 800;

export const isLong = (text: string): boolean => text.length > CHARACTERS || text.split("\n").length > LINES;

/** What an agent says in a question. What is `exact` is sent as it is, and stands in the order of its characters. */
export function Words({ text, exact = false }: { text: string; exact?: boolean }) {
  const order = exact ? "exact" : "";
  if (!isLong(text)) return <span className={`lines-kept ${order}`}>{shown(text)}</span>;
  return (
    <Box
      text={text}
      draw={({ className, ...box }, content) => (
        <div className={`text long-words lines-kept ${order} ${className}`} {...box}>
          {content}
        </div>
      )}
    />
  );
}
