// What waits for the person, over all conversations.
import { create } from "zustand";

import * as api from "../api/calls";
import type { Asked } from "../api/types";
import { records, type Records } from "./records";

interface Inbox {
  count: number;
  items: Asked[];
  next: string | null;
  phase: "empty" | "loading" | "ready" | "failed";
  /** Titles of conversations that the sidebar has not loaded. */
  titles: Records<string | null>;
}

export const useInbox = create<Inbox>()(() => ({ count: 0, items: [], next: null, phase: "empty", titles: records() }));

export function setCount(count: number): void {
  useInbox.setState({ count });
}

export async function loadInbox(): Promise<void> {
  useInbox.setState((state) => ({ phase: state.phase === "ready" ? "ready" : "loading" }));
  try {
    const page = await api.inbox(null);
    useInbox.setState((state) => ({ items: page.interrupts, next: page.next, phase: "ready", count: page.next ? Math.max(state.count, page.interrupts.length) : page.interrupts.length }));
  } catch {
    useInbox.setState((state) => ({ phase: state.items.length > 0 ? "ready" : "failed" }));
  }
}

export async function loadMoreInbox(): Promise<void> {
  const { next } = useInbox.getState();
  if (!next) return;
  const page = await api.inbox(next);
  useInbox.setState((state) => ({ items: [...state.items, ...page.interrupts.filter((item) => !state.items.some((other) => other.id === item.id))], next: page.next }));
}

export function dropAsked(id: string): void {
  useInbox.setState((state) => ({ items: state.items.filter((item) => item.id !== id) }));
}

export async function learnTitle(conversation: string): Promise<void> {
  if (conversation in useInbox.getState().titles) return;
  useInbox.setState((state) => ({ titles: records<string | null>(state.titles, { [conversation]: null }) }));
  const found = await api.snapshot(conversation, null, 1).catch(() => null);
  if (found) useInbox.setState((state) => ({ titles: records(state.titles, { [conversation]: found.conversation.title }) }));
}
