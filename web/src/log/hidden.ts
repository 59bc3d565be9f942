import { nameOf } from "./pieces";
import { BLANKS, HIDDEN, isWide } from "./shown";

/** The names of the hidden characters in a text, each once, and how many blanks are wider than a line may be. */
export function hiddenIn(text: string): string[] {
  const names = [...new Set(text.match(HIDDEN) ?? [])].map(nameOf);
  for (const { 0: run, index } of text.matchAll(BLANKS)) if (isWide(run, text, index)) names.push(`${nameOf(run)}×${run.length}`);
  return [...new Set(names)];
}
