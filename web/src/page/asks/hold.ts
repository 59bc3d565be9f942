import { focusBox } from "../places";
import { TOUCH } from "../useMedia";
import { show, waiting } from "./focus";

/** The questions whose answers are on their way. */
const leaving = new Set<Element>();

/** The person answers this question: the focus is kept for what comes after it. The function that is returned ends that. If the answer was
 * taken, the focus goes to the next question, else to where the person writes; if not, back to the question. It never leaves a place to which
 * the person has gone meanwhile. */
export function holdFocus(answered: string): (taken: boolean) => void {
  const card = find(answered);
  if (card) leaving.add(card);
  return (taken) => {
    setTimeout(() => {
      if (card) leaving.delete(card);
      const now = document.activeElement;
      if (now !== null && now !== document.body && !card?.contains(now)) return;
      if (taken) focusNext(answered);
      else find(answered)?.focus({ preventScroll: true });
    }, 50);
  };
}

/** Whether an answer to this question is on its way. */
export const isLeaving = (card: Element): boolean => leaving.has(card);

function focusNext(answered: string): void {
  const next = waiting().find((ask) => ask.dataset.ask !== answered);
  if (next) show(next);
  else if (!document.getElementById("box") || !matchMedia(TOUCH).matches) focusBox();
}

const find = (id: string): HTMLElement | undefined => waiting().find((ask) => ask.dataset.ask === id);
