/** The questions on the page that are open, in their order. */
export function waiting(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>("[data-ask]")];
}

/** Jumps to the next question that waits. Returns false if there is none on this page. */
export function jumpToNext(): boolean {
  const all = waiting();
  if (all.length === 0) return false;
  const at = all.findIndex((ask) => ask.contains(document.activeElement));
  show(all[(at + 1) % all.length] as HTMLElement);
  return true;
}

export function show(ask: HTMLElement): void {
  if (ask instanceof HTMLDetailsElement) ask.open = true;
  ask.scrollIntoView({ block: "nearest" });
  ask.focus({ preventScroll: true });
}
