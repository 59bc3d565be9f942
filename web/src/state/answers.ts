// What this page answered, and what became of it. A question stays in the log until the turn goes on.
import { create } from "zustand";

import * as api from "../api/calls";
import { ApiError, newKey } from "../api/client";
import type { NewAnswer } from "../api/types";

export type Given =
  | { phase: "sending"; decision: string }
  | { phase: "given"; decision: string; at: number }
  | { phase: "elsewhere"; decision: string | null; at: number }
  | { phase: "closed"; outcome: string; at: number };

export const useAnswers = create<Record<string, Given>>()(() => ({}));

/** Throws what the person must know. A question that somebody else answered is no error: its state says so. */
export async function giveAnswer(id: string, answer: NewAnswer): Promise<void> {
  useAnswers.setState({ [id]: { phase: "sending", decision: answer.decision } });
  try {
    await api.answer(id, answer, newKey());
    useAnswers.setState({ [id]: { phase: "given", decision: answer.decision, at: Date.now() } });
  } catch (error) {
    if (error instanceof ApiError && error.code === "already_answered") {
      useAnswers.setState({ [id]: { phase: "elsewhere", decision: wordOf(error.more.decision), at: Date.now() } });
      return;
    }
    if (error instanceof ApiError && (error.code === "nothing_pending" || error.status === 404)) {
      useAnswers.setState({ [id]: { phase: "closed", outcome: "expired", at: Date.now() } });
      return;
    }
    const { [id]: _, ...rest } = useAnswers.getState();
    useAnswers.setState(rest, true);
    throw error;
  }
}

function wordOf(decision: unknown): string | null {
  if (typeof decision === "string") return decision;
  const inner = (decision as { decision?: unknown } | null)?.decision;
  return typeof inner === "string" ? inner : null;
}

/** A question was closed. If this page did not answer it, somebody else did, or its time ran out. */
export function noteClosed(id: string, outcome: string, decision: string | null): boolean {
  const given = useAnswers.getState()[id];
  if (given && given.phase !== "elsewhere") return false;
  if (given?.phase === "elsewhere" && (given.decision !== null || decision === null)) return false;
  const answered = outcome === "answered";
  useAnswers.setState({ [id]: answered ? { phase: "elsewhere", decision, at: Date.now() } : { phase: "closed", outcome, at: Date.now() } });
  return answered && !given;
}
