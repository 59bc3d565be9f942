import { focusBox } from "../places";
import { TOUCH } from "../useMedia";

/** After an answer the focus goes to the next question, else to where the person writes. */
export function focusNext(answered: string): void {
  setTimeout(() => {
    const next = waiting().find((ask) => ask.dataset.ask !== answered);
    if (next) show(next);
    else if (!document.getElementById("box") || !matchMedia(TOUCH).matches) focusBox();
  }, 50);
}

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

function show(ask: HTMLElement): void {
  if (ask instanceof HTMLDetailsElement) ask.open = true;
  ask.scrollIntoView({ block: "nearest" });
  ask.focus({ preventScroll: true });
}
