// Whether this browser has something that the person wrote and did not send. Who signs out is asked first.
import { ASKED, DRAFT, SENT, useAway, useDrafts, useUnstored } from "./drafts";
import { kept, namesOf } from "./kept";

/** The step in which a question was left is no text. */
const STEP = "mode";

/** Whether somebody typed something into a question. What was only chosen is no text. */
function hasText(value: unknown): boolean {
  if (typeof value === "string") return value.trim() !== "";
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, item]) => name !== STEP && hasText(item));
}

function isText(name: string, text: string): boolean {
  if (name.startsWith(SENT)) return false;
  if (!name.startsWith(ASKED)) return text.trim() !== "";
  try {
    return hasText(JSON.parse(text));
  } catch {
    return false;
  }
}

export function hasUnsent(): boolean {
  // The newest words of a box are stored a moment later.
  const boxes = [...Object.values(useDrafts.getState()), ...Object.values(useAway.getState())];
  if (useUnstored.getState().lossy || boxes.some((text) => text.trim() !== "")) return true;
  return (["tab", "browser"] as const).some((where) => namesOf(DRAFT, where).some((place) => isText(place.slice(DRAFT.length), kept(place, where) ?? "")));
}
