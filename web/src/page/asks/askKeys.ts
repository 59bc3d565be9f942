import type { KeyboardEvent } from "react";

import { command, isHeld, isWriting } from "../keys";

/** The keys of a question: ⌘↵ sends it; E, R and 1–9 while nothing is written, and on an option only 1–9. A key that is held down counts once, and
 * the buttons themselves refuse what comes too early. */
export function askKeys(event: KeyboardEvent<HTMLElement>): void {
  if (event.nativeEvent.isComposing || event.defaultPrevented) return;
  const ask = event.currentTarget;
  if (isHeld(event)) {
    event.preventDefault();
    event.stopPropagation();
    return;
  }
  if (event.key === "Enter" && command(event) && !event.shiftKey) {
    event.preventDefault();
    event.stopPropagation();
    if (!event.repeat) ask.querySelector<HTMLElement>("[data-primary]")?.click();
    return;
  }
  if (event.key === "Escape") {
    const back = ask.querySelector<HTMLElement>("[data-back]");
    if (!back) return;
    event.stopPropagation();
    back.click();
    ask.focus();
    return;
  }
  if (isWriting(event.target) || event.repeat || event.metaKey || event.ctrlKey || event.altKey) return;
  const key = event.key.toLowerCase();
  // On an option or a box a letter is not meant for the whole question.
  if (event.target instanceof HTMLInputElement && !/^[1-9]$/.test(key)) return;
  const target = key === "e" ? ask.querySelector<HTMLElement>("[data-edit]") : key === "r" ? ask.querySelector<HTMLElement>("[data-refuse]") : option(ask, key);
  if (!target) return;
  event.preventDefault();
  // The focus is with what is chosen, as it is after an arrow.
  if (event.target instanceof HTMLInputElement) target.focus();
  target.click();
}

/** The option with this number, of the question that has the focus or else the first without an answer. */
function option(ask: HTMLElement, key: string): HTMLElement | null {
  if (!/^[1-9]$/.test(key)) return null;
  const sets = [...ask.querySelectorAll<HTMLElement>("fieldset")];
  const focused = sets.find((set) => set.contains(document.activeElement));
  const set = focused ?? sets.find((item) => !item.querySelector("input:checked")) ?? sets[0];
  return set?.querySelectorAll<HTMLElement>("input[type=radio]")[Number(key) - 1] ?? null;
}
