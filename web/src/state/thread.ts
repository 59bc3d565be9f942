// The conversation that is open: its turns, and what is under way in it.
import { create } from "zustand";

import type { ApiError } from "../api/client";
import type { Artifact, Conversation, SeenTurn } from "../api/types";
import { grantsOf } from "../log/grants";
import type { TurnLog } from "../log/turn";
import type { ReadMark } from "./reading";

export type TurnMeta = Omit<SeenTurn, "messages" | "interrupts" | "running_tools" | "writing_tools" | "notes" | "artifacts" | "cursor">;

export interface Entry {
  turn: TurnMeta;
  log: TurnLog;
}

/** A message on its way to the server. */
export interface Sending {
  content: string;
  /** The turn after which it comes; undefined: at the end. */
  parent: string | null | undefined;
  /** Set when it was not taken: the text goes back to where it was written. */
  fault: ApiError | null;
}

export interface Thread {
  id: string | null;
  phase: "none" | "loading" | "ready" | "missing" | "failed";
  conversation: Conversation | null;
  entries: Entry[];
  /** The cursor of the page before the first entry. */
  before: string | null;
  older: "idle" | "loading" | "failed";
  sending: Sending | null;
  mark: ReadMark | null;
  artifacts: Artifact[];
  revision: number;
  /** Why the last thing the person did was not done. */
  fault: ApiError | null;
  stopping: boolean;
  /** The conversation is gone, and what was typed in it is in the box of a new one. */
  moved: boolean;
}

/** The code of a fault: a message was sent, and nobody knows whether it arrived. */
export const UNANSWERED = "unanswered";

export const NONE: Thread = {
  id: null,
  phase: "none",
  conversation: null,
  entries: [],
  before: null,
  older: "idle",
  sending: null,
  mark: null,
  artifacts: [],
  revision: 0,
  fault: null,
  stopping: false,
  moved: false,
};

export const useThread = create<Thread>()(() => NONE);
const get = useThread.getState;
const set = useThread.setState;

/** The newest version of each document. */
export function versionsOf(artifacts: readonly Artifact[]): Map<string, number> {
  return new Map(artifacts.map(({ id, version }) => [id, version]));
}

/** The tools that were always allowed when this turn began, as far as this page knows. */
export function grantsBefore(id: string): ReadonlySet<string> {
  const { entries } = get();
  const found = new Set<string>();
  for (const { turn, log } of entries) {
    if (turn.id === id) break;
    for (const grant of grantsOf(log)) found.add(grant);
  }
  return found;
}

export function logOf(id: string): TurnLog | undefined {
  return get().entries.find((entry) => entry.turn.id === id)?.log;
}

export function update(id: string, change: (log: TurnLog) => TurnLog): void {
  set((state) => {
    const index = state.entries.findLastIndex((entry) => entry.turn.id === id);
    const entry = state.entries[index];
    if (!entry) return state;
    const log = change(entry.log);
    if (log === entry.log) return state;
    const entries = state.entries.slice();
    entries[index] = { turn: log.status === entry.turn.status ? entry.turn : { ...entry.turn, status: log.status }, log };
    return { entries };
  });
}
