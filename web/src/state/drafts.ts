// What a person has written and not sent, for each conversation. It survives a reload and the end of a session.
import { create } from "zustand";

import { drop, keep, kept } from "./kept";

const NEW = "new";
const DELAY = 300;

/** What is in the box. */
export const useDrafts = create<Record<string, string>>()(() => ({}));
/** What was taken out of the box and is on its way. The browser keeps it as a draft until the server has answered. */
export const useAway = create<Record<string, string>>()(() => ({}));
const timers = new Map<string, ReturnType<typeof setTimeout>>();
/** What the browser could not store. */
const unstored = new Map<string, string>();

export const nameOf = (id: string | null): string => id ?? NEW;

/** Gives whether a reload finds it again. If not, this page still has it. */
export function storeDraft(name: string, value: string | null): boolean {
  const stored = keep(`draft.${name}`, value);
  if (stored || value === null) unstored.delete(name);
  else unstored.set(name, value);
  return stored;
}

export function storedDraft(name: string): string | null {
  return unstored.get(name) ?? kept(`draft.${name}`);
}

export function draftOf(drafts: Record<string, string>, id: string | null): string {
  const name = nameOf(id);
  return drafts[name] ?? storedDraft(name) ?? "";
}

export function setDraft(id: string | null, text: string): void {
  const name = nameOf(id);
  useDrafts.setState({ [name]: text });
  clearTimeout(timers.get(name));
  timers.set(
    name,
    setTimeout(() => store(name), DELAY),
  );
}

/** Stores what the box would have after a failure: the text on its way, then what was typed since. */
function store(name: string): void {
  clearTimeout(timers.get(name));
  timers.delete(name);
  storeDraft(name, joined(useAway.getState()[name], useDrafts.getState()[name]) || null);
}

function joined(sent = "", typed = ""): string {
  return sent && typed ? `${sent}\n\n${typed}` : sent || typed;
}

/** The page may be gone before the next delay has passed. */
export function followLeaving(): void {
  addEventListener("pagehide", () => [...timers.keys()].forEach(store));
}

/** The text leaves the box. */
export function sendOff(id: string | null, text: string): void {
  const name = nameOf(id);
  const draft = draftOf(useDrafts.getState(), id);
  useAway.setState({ [name]: text });
  useDrafts.setState({ [name]: draft === text ? "" : draft });
  store(name);
}

/** A new conversation has its id now: what is on its way belongs to it, and what was typed since if the person goes along. */
export function adopt(id: string, typed: boolean): void {
  const { [NEW]: text, ...others } = useAway.getState();
  if (text === undefined) return;
  useAway.setState({ ...others, [id]: text }, true);
  useDrafts.setState((drafts) => (typed ? { [id]: drafts[NEW] ?? "", [NEW]: "" } : { [id]: "" }));
  store(id);
  store(NEW);
}

/** The text is not on its way any more. If it was not taken, it returns to the box, before what was typed since. */
export function comeBack(id: string | null, taken: boolean): void {
  const name = nameOf(id);
  const { [name]: text, ...others } = useAway.getState();
  // It was forgotten meanwhile, with everything of this person, or the turn was seen before the response.
  if (text === undefined) return;
  useAway.setState(others, true);
  if (!taken) useDrafts.setState((drafts) => ({ [name]: joined(text, drafts[name]) }));
  store(name);
}

/** This text has arrived: it is not in the box any more. */
export function takeOut(id: string, text: string): void {
  if (useAway.getState()[id] === text) return comeBack(id, true);
  const draft = draftOf(useDrafts.getState(), id);
  const start = joined(text, " ").slice(0, -1);
  if (draft === text) useDrafts.setState({ [id]: "" });
  else if (draft.startsWith(start)) useDrafts.setState({ [id]: draft.slice(start.length) });
  else return;
  store(id);
}

/** Nothing of one person is shown to the next. */
export function forgetDrafts(): void {
  for (const timer of timers.values()) clearTimeout(timer);
  timers.clear();
  unstored.clear();
  drop("draft.");
  drop("left.");
  useDrafts.setState({}, true);
  useAway.setState({}, true);
}
