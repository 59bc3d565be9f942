// Places to which the focus goes.
import { TOUCH } from "./useMedia";

/** Where the person writes. On a touch screen that would open the keyboard: there it is the conversation. A place without a
 * message box has a heading, or a content. */
export function focusBox(asked = false): void {
  const touch = matchMedia(TOUCH).matches;
  const box = document.getElementById(touch && !asked ? "scroll" : "box");
  const place = box ?? document.querySelector<HTMLElement>("[data-home]") ?? document.getElementById("scroll");
  place?.focus({ preventScroll: true });
}

/** The row of the list that Tab leads to. */
export function focusRow(): boolean {
  const row = document.querySelector<HTMLElement>(".list .conv a[tabindex='0']");
  row?.focus({ preventScroll: true });
  return row !== null;
}

/** The panel with documents. Until it is loaded, its place has the focus. */
export function focusPanel(): void {
  setTimeout(() => document.getElementById("panel")?.focus({ preventScroll: true }), 0);
}
