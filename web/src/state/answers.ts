// What this page answered, and what became of it. A question stays in the log until the turn goes on.
import * as api from "../api/calls";
import { ApiError, mayBeDone, newKey } from "../api/client";
import { serverNow } from "../api/clock";
import { writeJson } from "../api/json";
import type { NewAnswer } from "../api/types";
import { ANSWERED } from "./drafts";
import { keep, kept } from "./kept";
import { createRecords } from "./records";
import { dropTyped } from "./typed";

export type Given =
  | { phase: "sending"; decision: string }
  | { phase: "given"; decision: string; at: number }
  | { phase: "elsewhere"; decision: string | null; at: number }
  | { phase: "closed"; outcome: string; at: number };

/** After a reload the answers that were given in this tab are still its own, and those that came from elsewhere are not. */
export const useAnswers = createRecords<Given>(remembered());

/** So many answers are remembered over a reload. */
const MOST = 50;

/** What is kept of an answer: its decision, in a list if it came from elsewhere. */
type Kept = string | [string | null];

function memory(): Record<string, Kept> {
  try {
    return (JSON.parse(kept(ANSWERED, "tab") ?? "null") as Record<string, Kept> | null) ?? {};
  } catch {
    return {};
  }
}

function remembered(): Record<string, Given> {
  const given = (item: Kept): Given => (Array.isArray(item) ? { phase: "elsewhere", decision: item[0], at: 0 } : { phase: "given", decision: item, at: 0 });
  return Object.fromEntries(Object.entries(memory()).map(([id, item]) => [id, given(item)]));
}

/** Null: this question was not answered after all. */
function remember(id: string, item: Kept | null): void {
  const before = Object.entries(memory()).filter(([known]) => known !== id);
  const now = item === null ? before : [...before.slice(1 - MOST), [id, item] as const];
  keep(ANSWERED, JSON.stringify(Object.fromEntries(now)), "tab");
}

/** The question is over for this page: what was typed into it is not needed any more. */
function over(id: string, given: Given): void {
  useAnswers.setState({ [id]: given });
  dropTyped(id);
  if (given.phase === "given") remember(id, given.decision);
  if (given.phase === "elsewhere") remember(id, [given.decision]);
}

/** The server does not have this answer: the question is open again. */
export function forgetAnswer(id: string): void {
  const { [id]: _, ...rest } = useAnswers.getState();
  useAnswers.setState(rest, true);
  remember(id, null);
}

/** The questions in which the person chose or wrote something on this page. */
export const useChosen = createRecords<true>();
export const noteChosen = (id: string): void => {
  if (!useChosen.getState()[id]) useChosen.setState({ [id]: true });
};

interface Tried {
  key: string;
  answer: string;
  decision: string;
}

/** Answers that may have been taken although no response came. The same answer is given again under its key. */
const tried = new Map<string, Tried[]>();

/** Throws what the person must know. A question that somebody else answered is no error: its state says so. */
export async function giveAnswer(id: string, answer: NewAnswer): Promise<void> {
  useAnswers.setState({ [id]: { phase: "sending", decision: answer.decision } });
  noteChosen(id);
  const before = tried.get(id) ?? [];
  const text = writeJson(answer);
  const known = before.find((item) => item.answer === text);
  const own = known ?? { key: newKey(), answer: text, decision: answer.decision };
  try {
    await api.answer(id, answer, own.key);
    tried.delete(id);
    over(id, { phase: "given", decision: answer.decision, at: serverNow() });
  } catch (error) {
    if (error instanceof ApiError && error.code === "already_answered") {
      const decision = wordOf(error.more.decision);
      over(id, { ...takenFrom(id, decision), at: serverNow() });
      return;
    }
    if (error instanceof ApiError && (error.code === "nothing_pending" || error.status === 404)) {
      over(id, { phase: "closed", outcome: "expired", at: serverNow() });
      return;
    }
    if (mayBeDone(error) && !known) tried.set(id, [...before, own]);
    forgetAnswer(id);
    throw error;
  }
}

/** Who answered: this page, with an answer to which no response came, or somebody else. */
function takenFrom(id: string, decision: string | null): { phase: "given"; decision: string } | { phase: "elsewhere"; decision: string | null } {
  const own = tried.get(id)?.find((item) => decision === null || item.decision === decision);
  return own ? { phase: "given", decision: own.decision } : { phase: "elsewhere", decision };
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
  const taken = takenFrom(id, decision);
  over(id, answered ? { ...taken, at: serverNow() } : { phase: "closed", outcome, at: serverNow() });
  return answered && !given && taken.phase === "elsewhere";
}
