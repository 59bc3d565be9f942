// What a person types into a question before they answer it: kept in the tab until the question is closed.
import { useState } from "react";

import { storeDraft, storedDraft } from "./drafts";

type Typed = Record<string, unknown>;

const nameOf = (id: string) => `ask.${id}`;

function typedIn(id: string): Typed {
  try {
    return (JSON.parse(storedDraft(nameOf(id)) ?? "null") as Typed | null) ?? {};
  } catch {
    return {};
  }
}

export function dropTyped(id: string): void {
  storeDraft(nameOf(id), null);
}

/** As `useState`, for one part of what is typed into a question. `fits` says whether what was kept has the right form. */
export function useTyped<T>(id: string, part: string, begin: T, fits: (kept: unknown) => boolean): [T, (change: T | ((before: T) => T)) => void] {
  const [value, setValue] = useState<T>(() => {
    const { [part]: found } = typedIn(id);
    return found !== undefined && fits(found) ? (found as T) : begin;
  });
  const set = (change: T | ((before: T) => T)): void => {
    const next = typeof change === "function" ? (change as (before: T) => T)(value) : change;
    setValue(next);
    storeDraft(nameOf(id), JSON.stringify({ ...typedIn(id), [part]: next }));
  };
  return [value, set];
}

export const isText = (kept: unknown): boolean => typeof kept === "string";

export const isTexts = (kept: unknown): boolean => typeof kept === "object" && kept !== null && Object.values(kept).every(isText);
