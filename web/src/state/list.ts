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

/** What the feed has told while the list was on its way: it is newer. Null: the conversation is gone. */
let told: Map<string, Conversation | null> | null = null;

export async function loadList(): Promise<void> {
  useList.setState({ phase: "loading" });
  const newer = new Map<string, Conversation | null>();
  told = newer;
  try {
    const page = await api.conversations(null);
    const rows = records(Object.fromEntries(page.conversations.map((row) => [row.id, row])));
    for (const [id, row] of newer) {
      if (row) rows[id] = row;
      else delete rows[id];
    }
    useList.setState({ rows, order: sorted(rows), next: page.next, phase: "ready" });
  } catch {
    useList.setState({ phase: "failed" });
  } finally {
    if (told === newer) told = null;
  }
}

export async function loadMore(): Promise<void> {
  const { next, phase } = useList.getState();
  if (!next || phase === "loading") return;
  useList.setState({ phase: "loading" });
  try {
    const page = await api.conversations(next);
    const rows = records(useList.getState().rows);
    for (const row of page.conversations) rows[row.id] ??= row;
    useList.setState({ rows, order: sorted(rows), next: page.next, phase: "ready" });
  } catch {
    useList.setState({ phase: "ready" });
  }
}

/** The newest state of a conversation. One that is older than all that is loaded stays out until it is scrolled to. */
export function putRow(row: Conversation): void {
  told?.set(row.id, row);
  const { rows, order, titled } = useList.getState();
  const before = rows[row.id];
  const all = records(rows, { [row.id]: row });
  const isNew = row.title !== null && before !== undefined && before.title !== row.title;
  const moves = before?.updated_at !== row.updated_at;
  useList.setState({ rows: all, order: moves ? placed(order, all, row) : order, titled: isNew ? row.id : titled });
}

/** The conversations that are deleted, or are about to be. */
const gone = new Set<string>();

export const isGone = (id: string): boolean => gone.has(id);

export function dropRow(id: string): void {
  gone.add(id);
  told?.set(id, null);
  dropFound(id);
  const { [id]: row, ...rows } = useList.getState().rows;
  if (row) useList.setState({ rows: records(rows), order: useList.getState().order.filter((item) => item !== id) });
}

export async function renameConversation(id: string, title: string): Promise<void> {
  putRow({ ...useList.getState().rows[id], ...(await api.rename(id, title)) });
}

export async function deleteConversation(id: string): Promise<void> {
  gone.add(id);
  try {
    await api.remove(id);
  } catch (error) {
    gone.delete(id);
    throw error;
  }
  dropRow(id);
}
