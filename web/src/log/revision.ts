// A document in which something is being replaced. Pure.
import type { Update } from "./written";

export interface Revision {
  before: string;
  /** What will be replaced, as far as that is known. */
  old: string;
  /** What takes its place; null before its first word. */
  new: string | null;
  after: string;
}

/** The text with the last of these updates marked; null if the place of that one is not known. The server also finds a text
 * with other white space: its place is known when the version is there. */
export function revision(base: string, updates: readonly Update[]): Revision | null {
  const last = updates.at(-1);
  return last ? placed(updates.slice(0, -1).reduce(applied, base), last) : null;
}

/** The text after all these updates, as far as they have arrived. */
export function revised(base: string, updates: readonly Update[]): string {
  return updates.reduce(applied, base);
}

function applied(text: string, update: Update): string {
  const found = update.whole && update.new !== null ? placed(text, update) : null;
  return found ? found.before + (found.new ?? "") + found.after : text;
}

function placed(text: string, { old, new: next }: Update): Revision | null {
  const at = old === "" ? -1 : text.indexOf(old);
  if (at < 0 || text.indexOf(old, at + 1) >= 0) return null;
  return { before: text.slice(0, at), old, new: next, after: text.slice(at + old.length) };
}
