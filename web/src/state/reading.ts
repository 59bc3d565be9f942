// "You left here": how far the person has read, on any device. This browser also keeps the exact place.
import * as api from "../api/calls";
import { serverNow } from "../api/clock";
import type { Read } from "../api/types";
import type { Left } from "../log/blocks";
import { numberOf } from "../log/events";
import { keep, kept } from "./kept";
import { isGone } from "./list";
import { useSession } from "./session";
import type { Entry } from "./thread";

/** Where the mark is drawn: in this turn, after this many messages. -1: before what the person said. */
export interface ReadMark extends Left {
  turn: string;
  at: number;
}

/** A place that this browser keeps. */
interface Place extends Left {
  turn: string;
  cursor: number;
}

/** Milliseconds: who was away for a shorter time has not left. */
const AWAY = 5000;

/** Where the mark belongs when a conversation is opened, if something is new since. */
export function markOf(conversation: string, entries: readonly Entry[], read: Read | null): ReadMark | null {
  if (!read || serverNow() - read.at < AWAY) return null;
  const index = entries.findIndex((entry) => entry.turn.id === read.turn_id);
  const entry = entries[index];
  if (!entry) return null;
  const place = placeOf(conversation, read);
  if (entry.log.seq > numberOf(place?.cursor ?? read.cursor)) {
    const left = place ?? { messages: messagesUntil(entry, read.at), characters: 0 };
    return { turn: entry.turn.id, messages: left.messages, characters: left.characters, at: read.at };
  }
  const next = entries[index + 1];
  return next ? { turn: next.turn.id, messages: -1, characters: 0, at: read.at } : null;
}

/** The place that this browser kept, unless the person has read on elsewhere. */
function placeOf(conversation: string, read: Read): Place | null {
  try {
    const place = JSON.parse(kept(`left.${conversation}`) ?? "null") as Partial<Place> | null;
    if (place?.turn !== read.turn_id || place.cursor === undefined || place.cursor < read.cursor) return null;
    return { turn: place.turn, cursor: place.cursor, messages: Number(place.messages), characters: Number(place.characters ?? 0) };
  } catch {
    return null;
  }
}

/** Of another device only the time is known. */
function messagesUntil({ log }: Entry, at: number): number {
  return log.finished.filter((message) => message.at != null && message.at <= at).length;
}

const told = new Map<string, string>();

/** Tells the server that everything up to here has been on the screen. Sent once for each place. */
export async function read(conversation: string, entry: Entry): Promise<void> {
  const { id } = entry.turn;
  const { cursor } = entry.log;
  const place = `${id}:${cursor}`;
  // What is deleted is not read any more, also while it is still on the screen. Behind the dialog of a session that has ended nobody reads.
  if (cursor === 0 || told.get(conversation) === place || isGone(conversation) || useSession.getState().phase === "ended") return;
  told.set(conversation, place);
  const characters = entry.log.drafts.find((draft) => draft.parent === null)?.text.length ?? 0;
  // Nothing is kept for a person who is just leaving.
  if (kept("user") !== null) keep(`left.${conversation}`, JSON.stringify({ turn: id, cursor, messages: entry.log.finished.length, characters } satisfies Place));
  await api.markRead(conversation, id, cursor).catch(() => told.delete(conversation));
}
