// Which addresses may be opened.

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
