// "You left here": how far the person has read, on any device. This browser also keeps the exact place.
import * as api from "../api/calls";
import type { Read } from "../api/types";
import { numberOf } from "../log/events";
import { keep, kept } from "./kept";
import type { Entry } from "./thread";

/** Where the mark is drawn: in this turn, after this many messages. -1: before what the person said. */
export interface ReadMark {
  turn: string;
  messages: number;
  at: number;
}

interface Left {
  turn: string;
  cursor: number;
  messages: number;
}

/** Milliseconds: who was away for a shorter time has not left. */
const AWAY = 5000;

/** Where the mark belongs when a conversation is opened, if something is new since. */
export function markOf(conversation: string, entries: readonly Entry[], read: Read | null): ReadMark | null {
  if (!read || Date.now() - read.at < AWAY) return null;
  const index = entries.findIndex((entry) => entry.turn.id === read.turn_id);
  const entry = entries[index];
  if (!entry) return null;
  if (entry.log.seq > numberOf(read.cursor)) {
    return { turn: entry.turn.id, messages: messagesRead(conversation, entry, read), at: read.at };
  }
  const next = entries[index + 1];
  return next ? { turn: next.turn.id, messages: -1, at: read.at } : null;
}

function messagesRead(conversation: string, entry: Entry, read: Read): number {
  const left = leftOf(conversation);
  if (left?.turn === read.turn_id && left.cursor === read.cursor) return left.messages;
  return entry.log.finished.filter((message) => message.at != null && message.at <= read.at).length;
}

function leftOf(conversation: string): Left | null {
  try {
    return JSON.parse(kept(`left.${conversation}`) ?? "null") as Left | null;
  } catch {
    return null;
  }
}

const told = new Map<string, string>();

/** Tells the server that everything up to here has been on the screen. Sent once for each place. */
export async function read(conversation: string, entry: Entry): Promise<void> {
  const { id } = entry.turn;
  const { cursor } = entry.log;
  const place = `${id}:${cursor}`;
  if (cursor === 0 || told.get(conversation) === place) return;
  told.set(conversation, place);
  keep(`left.${conversation}`, JSON.stringify({ turn: id, cursor, messages: entry.log.finished.length } satisfies Left));
  await api.markRead(conversation, id, cursor).catch(() => told.delete(conversation));
}
