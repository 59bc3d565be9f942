// What a person has written and not sent, for each conversation. It survives a reload and the end of a session.
import { create } from "zustand";

import { drop, keep, kept } from "./kept";

const NEW = "new";
const DELAY = 300;

export const useDrafts = create<Record<string, string>>()(() => ({}));
const timers = new Map<string, ReturnType<typeof setTimeout>>();

export function draftOf(drafts: Record<string, string>, id: string | null): string {
  const name = id ?? NEW;
  return drafts[name] ?? kept(`draft.${name}`) ?? "";
}

export function setDraft(id: string | null, text: string): void {
  const name = id ?? NEW;
  useDrafts.setState({ [name]: text });
  clearTimeout(timers.get(name));
  timers.set(
    name,
    setTimeout(() => keep(`draft.${name}`, text || null), DELAY),
  );
}

/** Nothing of one person is shown to the next. */
export function forgetDrafts(): void {
  for (const timer of timers.values()) clearTimeout(timer);
  timers.clear();
  drop("draft.");
  drop("left.");
  useDrafts.setState({}, true);
}
