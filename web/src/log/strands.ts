// How a text is given to a browser, so that no line of it takes seconds to draw.
import { unspaced } from "./strain";
import { turns } from "./turns";

/** For each line that it breaks, a browser looks through all changes of the font in one node of text. Nodes of this length keep that short. */
const STRAND = 500;
const FOREIGN = /[^\0-\x7f]/;
/** What belongs to the character before it, or joins two. */
const JOINED = /^[\p{M}\u200d\udc00-\udfff]/u;

/** The nodes of a text. Together they are the text. */
export function strands(text: string): string[] {
  if (text.length <= STRAND || !FOREIGN.test(text)) return [text];
  const found: string[] = [];
  for (let from = 0; from < text.length; ) {
    const end = edge(text, from);
    found.push(text.slice(from, end));
    from = end;
  }
  return found;
}

/** Where a node ends: not within a character, its marks or a family of emoji. Nobody has a hundred of them in one. */
function edge(text: string, from: number): number {
  const most = from + STRAND;
  if (most >= text.length) return text.length;
  for (let end = most; end > most - 100; end -= 1) if (!JOINED.test(text.charAt(end)) && text[end - 1] !== "\u200d") return end;
  return most;
}

/** Whether a line may be broken after this node. Thai and the like have no blanks between words: a browser looks them up, which takes it the
 * square of the length from one place for a break to the next. */
export function breaksAfter(node: string): boolean {
  return unspaced(node) === node.length;
}

/** A line that turns around so often cannot be read anyway, and takes a browser the square of that. */
const TURNS = 1000;
/** So often may the lines of one block turn around, all together. */
const MOST = 40_000;

export interface Lines {
  text: string;
  /** Its letters stand in the order in which they are written, not each in its own direction. */
  tangled: boolean;
}

/** The lines of a text in groups that each turn around seldom enough. A line that does not is a group by itself. */
export function untangled(text: string): Lines[] {
  if (turns(text) <= TURNS) return [{ text, tangled: false }];
  const found: Lines[] = [];
  let rest = 0;
  text.split("\n").forEach((line, index, lines) => {
    const count = turns(line);
    const last = found.at(-1);
    const whole = index < lines.length - 1 ? `${line}\n` : line;
    rest -= count;
    if (last && rest >= 0) last.text += whole;
    else {
      found.push({ text: whole, tangled: count > TURNS });
      rest = TURNS - count;
    }
  });
  return found;
}

/** Whether a text that is drawn in one block turns around too often. */
export function isTangled(text: string): boolean {
  const all = turns(text);
  return all > MOST || (all > TURNS && untangled(text).some((lines) => lines.tangled));
}
