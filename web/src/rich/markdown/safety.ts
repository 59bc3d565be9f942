// What of a text may be handed to the parser, and which addresses may be opened.

/** Longer texts are shown as they are. */
const LONGEST = 300_000;
// Deep nesting and long runs of marks cost the parser far more than their length.
const DEEP = /^(?:[ \t]*(?:>|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t]))){60}/m;
const RUNS = /[[\]*_~!<]{300}|(?:[*_~]{1,3}[^\s*_~]{0,3}[ \t]?){600}|(?:!?\[[^\]\n]{0,3}){300}/;

/** `easy` is a text that was looked at before. If this one continues it, only its new lines are looked at. */
export function tooHard(text: string, easy = ""): boolean {
  if (text.length > LONGEST) return true;
  const lines = text.startsWith(easy) ? text.slice(easy.lastIndexOf("\n") + 1) : text;
  return DEEP.test(lines) || RUNS.test(lines);
}

/** Only what opens a page or a mail. */
export function safeAddress(address: string | undefined): string | null {
  if (address === undefined) return null;
  try {
    const { protocol } = new URL(address);
    return protocol === "https:" || protocol === "http:" || protocol === "mailto:" ? address : null;
  } catch {
    return null;
  }
}
