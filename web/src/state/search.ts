// Conversations that are looked for by a part of their titles.
import { create } from "zustand";

import * as api from "../api/calls";
import type { Conversation } from "../api/types";

interface Search {
  /** What the person has typed. Empty: the whole list is shown. */
  query: string;
  found: Conversation[];
  next: string | null;
  phase: "ready" | "loading" | "failed";
}

const NONE: Search = { query: "", found: [], next: null, phase: "ready" };
/** Milliseconds: a person types faster than a server must answer. */
export const PAUSE = 180;

export const useSearch = create<Search>()(() => NONE);

let timer: ReturnType<typeof setTimeout> | undefined;

export function search(query: string): void {
  clearTimeout(timer);
  if (query.trim() === "") {
    useSearch.setState({ ...NONE, query });
    return;
  }
  useSearch.setState({ query, phase: "loading" });
  timer = setTimeout(() => void load(query, null), PAUSE);
}

/** The next page of what was found. */
export async function searchMore(): Promise<void> {
  const { query, next, phase } = useSearch.getState();
  if (next === null || phase === "loading") return;
  useSearch.setState({ phase: "loading" });
  await load(query, next);
}

/** A conversation is gone. */
export function dropFound(id: string): void {
  const { found } = useSearch.getState();
  if (found.some((row) => row.id === id)) useSearch.setState({ found: found.filter((row) => row.id !== id) });
}

async function load(query: string, cursor: string | null): Promise<void> {
  const here = (): boolean => useSearch.getState().query === query;
  try {
    const page = await api.conversations(cursor, 40, query.trim());
    if (!here()) return;
    const known = cursor === null ? [] : useSearch.getState().found;
    useSearch.setState({ found: [...known, ...page.conversations], next: page.next, phase: "ready" });
  } catch {
    if (here()) useSearch.setState({ phase: "failed" });
  }
}
