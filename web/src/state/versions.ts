// The versions of a turn: those with another message (edited) and those with another answer to the same message.
import { request } from "../api/client";
import type { Turn } from "../api/types";
import { createRecords } from "./records";
import type { Entry } from "./thread";

/** What each turn said, as far as it was asked for. */
const useContents = createRecords<string>();
const MOST = 50;

export interface Versions {
  /** One turn for each different message; the turn itself is among them. */
  messages: string[];
  /** The turns that answer the same message. */
  answers: string[];
}

export function useVersions(entry: Entry): Versions {
  const contents = useContents();
  const { id, content } = entry.turn;
  const siblings = entry.turn.siblings ?? [id];
  if (siblings.length < 2) return { messages: [], answers: [] };
  const known = siblings.every((turn) => turn === id || contents[turn] !== undefined);
  if (!known) return { messages: [], answers: siblings };
  const answers = siblings.filter((turn) => turn === id || contents[turn] === content);
  const groups = new Map<string, string>();
  for (const turn of siblings) groups.set(turn === id ? content : (contents[turn] ?? ""), turn);
  groups.set(content, id);
  // A Map keeps the place of a first insertion: versions stay in the order in which they were first said.
  return { messages: [...groups.values()], answers };
}

export async function learnVersions(entry: Entry): Promise<void> {
  const { siblings = [], id, content } = entry.turn;
  const missing = siblings.filter((turn) => turn !== id && useContents.getState()[turn] === undefined).slice(-MOST);
  if (siblings.length < 2) return;
  const found = await Promise.all(missing.map((turn) => request<Turn>(`/api/v2/turns/${encodeURIComponent(turn)}`).catch(() => null)));
  const more = found.flatMap((turn) => (turn ? [[turn.id, turn.content] as const] : []));
  useContents.setState(Object.fromEntries([[id, content], ...more]));
}
