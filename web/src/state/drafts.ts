// What a person has written and not sent: messages, edited messages, documents, answers to questions. It survives a reload and
// the end of a session. Each tab keeps its own texts. The newest one of all tabs is kept beside them: a new tab begins with it.
import { create } from "zustand";

import { drop, keep, kept, namesOf } from "./kept";
import { createRecords } from "./records";

const NEW = "new";
export const DRAFT = "draft.";
/** What is typed into a question ends with its tab: nobody would remove it from the browser once the question is closed. */
export const ASKED = "ask.";
const DELAY = 300;

/** What is in the box. */
export const useDrafts = createRecords<string>();
/** What was taken out of the box and is on its way. The browser keeps it as a draft until the server has answered. */
export const useAway = createRecords<string>();
const timers = new Map<string, ReturnType<typeof setTimeout>>();
/** What the browser could not store, or only until this tab is closed. */
const unstored = new Map<string, string>();
/** Whether closing this tab would lose something that the person wrote. */
export const useUnstored = create<{ lossy: boolean }>()(() => ({ lossy: false }));

export const nameOf = (id: string | null): string => id ?? NEW;

/** Gives whether it is found again after this tab has been closed, or a question's after a reload. If not, this page still has it.
 * A tab never removes what another one wrote. */
export function storeDraft(name: string, value: string | null): boolean {
  const place = DRAFT + name;
  const shared = !name.startsWith(ASKED);
  if (value !== null) markAgain();
  const own = [storedDraft(name), kept(place, "tab")].includes(kept(place));
  const here = keep(place, value, "tab");
  const everywhere = value !== null && shared && keep(place, value);
  // What was stored before would pass for the newest text.
  if (own && (value === null || (here && !everywhere))) keep(place, null);
  if (everywhere && !here) keep(place, null, "tab");
  const safe = value === null || (shared ? everywhere : here);
  if (safe) unstored.delete(name);
  else unstored.set(name, value);
  noteLossy();
  if (value === null) storeAgain();
  return safe;
}

/** There may be room now. */
function storeAgain(): void {
  for (const [name, value] of [...unstored]) storeDraft(name, value);
}

/** The request with which a text was sent is no text of the person. */
export const SENT = "sent.";

function noteLossy(): void {
  const lossy = [...unstored.keys()].some((name) => !name.startsWith(SENT));
  if (lossy === useUnstored.getState().lossy) return;
  useUnstored.setState({ lossy });
  if (lossy) addEventListener("beforeunload", ask);
  else removeEventListener("beforeunload", ask);
}

/** The browser asks whether the person wants to leave. Listening all the time would keep some browsers from bringing the page back. */
function ask(event: BeforeUnloadEvent): void {
  storeAgain();
  if (useUnstored.getState().lossy) event.preventDefault();
}

/** What this tab has stored, or the newest text of any tab. */
export function storedDraft(name: string): string | null {
  return unstored.get(name) ?? kept(DRAFT + name, "tab") ?? kept(DRAFT + name);
}

/** Whether a reload would lose something that was typed. */
export function isUnstored(): boolean {
  return [...unstored].some(([name, text]) => kept(DRAFT + name, "tab") !== text);
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

/** The page may be gone before the next delay has passed, and the tab for good: the next one begins with what is left. */
export function followLeaving(): void {
  addEventListener("pagehide", storeAll);
}

export function storeAll(): void {
  [...timers.keys()].forEach(store);
  // Another person may have signed in meanwhile.
  if (kept(OWNER, "tab") === kept("user")) shareAll();
}

/** What only this tab has becomes what a new tab begins with. */
function shareAll(): void {
  for (const place of namesOf(DRAFT, "tab")) {
    const text = kept(place, "tab");
    if (text === null || place.startsWith(DRAFT + ASKED) || kept(place) !== null || keep(place, text)) continue;
    const name = place.slice(DRAFT.length);
    if (!unstored.has(name)) unstored.set(name, text);
  }
  noteLossy();
}

const OWNER = "owner";
/** The questions that were answered in this tab. */
export const ANSWERED = "answered";

/** The person whose texts this tab keeps. */
let person: string | null = null;

/** Whose texts these are was removed with everything else that the browser kept of the site. Without it they would be dropped. */
function markAgain(): void {
  if (person === null || kept("user") !== null) return;
  keep("user", person);
  keep(OWNER, person, "tab");
}

/** The texts of this tab belong to this person. Those of another one are dropped. */
export function claimTab(user: string): void {
  const owner = kept(OWNER, "tab");
  if (owner !== null && owner !== user) {
    drop(DRAFT, "tab");
    useDrafts.setState({}, true);
  }
  person = user;
  keep(OWNER, user, "tab");
  // After a reload too, what the browser has no room for ends with this tab.
  shareAll();
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

/** The words of a text. A document is kept with the version with which the person began. */
function wordsOf(name: string, text: string): string {
  try {
    return name.startsWith("document.") ? String((JSON.parse(text) as { text: unknown }).text) : text;
  } catch {
    return "";
  }
}

/** The conversation is gone: what was written in it goes to the box of a new one, whether a message, one in place of another or a
 * document. Nothing else of it is kept. `own`: only what was written in this tab. Gives whether there was any text. */
export function rescue(id: string, own: boolean): boolean {
  if (timers.has(id)) store(id);
  const places = [...namesOf(DRAFT, "tab"), ...(own ? [] : namesOf(DRAFT, "browser"))].map((place) => place.slice(DRAFT.length));
  const names = [...new Set([...unstored.keys(), ...places])].filter((name) => name === id || name.startsWith(`instead.${id}.`) || name.startsWith(`document.${id}.`));
  const text = names.map((name) => wordsOf(name, storedDraft(name) ?? "")).reduce((all, words) => joined(all, words.trim() && words), "");
  const { [id]: _, ...others } = useAway.getState();
  useAway.setState(others, true);
  useDrafts.setState({ [id]: "" });
  for (const name of [...names, SENT + id, `${SENT}${id}.edit`]) storeDraft(name, null);
  keep(`left.${id}`, null);
  if (!text) return false;
  useDrafts.setState({ [NEW]: joined(draftOf(useDrafts.getState(), null), text) });
  store(NEW);
  return true;
}

/** Nothing of one person is shown to the next. */
export function forgetDrafts(): void {
  person = null;
  for (const timer of timers.values()) clearTimeout(timer);
  timers.clear();
  unstored.clear();
  noteLossy();
  drop(DRAFT, "tab");
  drop(DRAFT, "browser");
  drop("left.", "browser");
  keep(ANSWERED, null, "tab");
  keep(OWNER, null, "tab");
  useDrafts.setState({}, true);
  useAway.setState({}, true);
}
