import type { KeyboardEvent } from "react";

/** ↑ and ↓ lead out of the field of an own answer, to the option before or after it. In a field of several lines they do so at its beginning and its end. */
export function leaveOwn(event: KeyboardEvent<HTMLInputElement | HTMLTextAreaElement>): void {
  const step = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
  if (step === 0 || event.nativeEvent.isComposing) return;
  const field = event.currentTarget;
  const edge = step < 0 ? 0 : field.value.length;
  if (field instanceof HTMLTextAreaElement && (field.selectionStart !== edge || field.selectionEnd !== edge)) return;
  const options = [...(field.closest("fieldset")?.querySelectorAll<HTMLElement>("input[type=radio]") ?? [])];
  const at = options.findIndex((option) => option.parentElement === field.parentElement);
  event.preventDefault();
  const next = options[(at + step + options.length) % options.length];
  next?.focus();
  next?.click();
}
