// The person's conversations, newest first, as far as they are loaded.
import { create } from "zustand";

import * as api from "../api/calls";
import type { Conversation } from "../api/types";
import { records, type Records } from "./records";
import { dropFound } from "./search";

interface List {
  rows: Records<Conversation>;
  /** The ids in the order in which they are shown. */
  order: string[];
  next: string | null;
  phase: "empty" | "loading" | "ready" | "failed";
  /** The conversation whose title has just come. */
  titled: string | null;
}

export const useList = create<List>()(() => ({ rows: records(), order: [], next: null, phase: "empty", titled: null }));

function compare(one: Conversation, other: Conversation): number {
  return other.updated_at - one.updated_at || (one.id < other.id ? 1 : -1);
}

function sorted(rows: Records<Conversation>): string[] {
  return Object.values(rows)
    .sort(compare)
    .map((row) => row.id);
}

/** The order with this row at its new place. The others keep theirs. */
function placed(order: readonly string[], rows: Records<Conversation>, row: Conversation): string[] {
  const rest = order.filter((id) => id !== row.id);
  let [low, high] = [0, rest.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compare(rows[rest[middle] as string] as Conversation, row) < 0) low = middle + 1;
    else high = middle;
  }
  rest.splice(low, 0, row.id);
  return rest;
}

/** Counts what the feed and the open turn tell. */
let news = 0;
/** When something was last told of a conversation. */
const told = new Map<string, number>();
/** The conversations that are deleted, and those that are about to be. */
const gone = new Set<string>();
const leaving = new Set<string>();

export const isGone = (id: string): boolean => gone.has(id) || leaving.has(id);

/** The moment at which a request begins. What is told after it is newer than the response. */
export const moment = (): number => news;

const isOld = (id: string, since: number): boolean => gone.has(id) || (told.get(id) ?? 0) > since;

export async function loadList(): Promise<void> {
  useList.setState({ phase: "loading" });
  const since = moment();
  const { rows: before } = useList.getState();
  try {
    const page = await api.conversations(null);
    const fresh = page.conversations.filter((row) => !isOld(row.id, since));
    // What was told meanwhile, and what this page has begun meanwhile.
    const newer = Object.values(useList.getState().rows).filter(({ id }) => isOld(id, since) || !before[id]);
    const rows = records(Object.fromEntries([...fresh, ...newer].map((row) => [row.id, row])));
    useList.setState({ rows, order: sorted(rows), next: page.next, phase: "ready" });
  } catch {
    useList.setState({ phase: "failed" });
  }
}

export async function loadMore(): Promise<void> {
  const { next, phase } = useList.getState();
  if (!next || phase === "loading") return;
  useList.setState({ phase: "loading" });
  try {
    const page = await api.conversations(next);
    const rows = records(useList.getState().rows);
    for (const row of page.conversations) if (!gone.has(row.id)) rows[row.id] ??= row;
    useList.setState({ rows, order: sorted(rows), next: page.next, phase: "ready" });
  } catch {
    useList.setState({ phase: "ready" });
  }
}

/** Takes the state of a conversation from a response to a request that began at this moment, unless a newer one was told since.
 * Gives the newest state. */
export function putAnswer(row: Conversation, since: number): Conversation {
  const known = useList.getState().rows[row.id];
  if (isOld(row.id, since)) return known ?? row;
  const newest = { ...known, ...row };
  put(newest);
  return newest;
}

/** The newest state of a conversation. One that is older than all that is loaded stays out until it is scrolled to. */
export function putRow(row: Conversation): void {
  news += 1;
  told.set(row.id, news);
  put(row);
}

function put(row: Conversation): void {
  const { rows, order, titled } = useList.getState();
  const before = rows[row.id];
  const all = records(rows, { [row.id]: row });
  const isNew = row.title !== null && before !== undefined && before.title !== row.title;
  const moves = before?.updated_at !== row.updated_at;
  useList.setState({ rows: all, order: moves ? placed(order, all, row) : order, titled: isNew ? row.id : titled });
}

export function dropRow(id: string): void {
  gone.add(id);
  dropFound(id);
  const { [id]: row, ...rows } = useList.getState().rows;
  if (row) useList.setState({ rows: records(rows), order: useList.getState().order.filter((item) => item !== id) });
}

export async function renameConversation(id: string, title: string): Promise<void> {
  const since = moment();
  putAnswer(await api.rename(id, title), since);
}

export async function deleteConversation(id: string): Promise<void> {
  leaving.add(id);
  try {
    await api.remove(id);
  } finally {
    leaving.delete(id);
  }
  dropRow(id);
}
