// Opening a conversation: its newest page, older pages, its documents.
import * as api from "../api/calls";
import { ApiError } from "../api/client";
import type { SeenTurn, Snapshot } from "../api/types";
import { attemptOf } from "../log/events";
import { fromSnapshot } from "../log/snapshot";
import { isLive } from "../log/turn";
import { rescue } from "./drafts";
import { catchUp, skipTo, unfollow, watch } from "./following";
import { moment, putAnswer } from "./list";
import { markOf } from "./reading";
import { NONE, useThread, type Entry } from "./thread";

/** Turns in one page. A conversation opens with the newest page; older ones come while scrolling up. */
export const PAGE = 30;
/** Milliseconds after which a conversation that could not be loaded is tried again. */
const AGAIN = 3000;

const get = useThread.getState;
const set = useThread.setState;

let loading: AbortController | undefined;

export async function open(id: string): Promise<void> {
  if (get().id === id && get().phase === "ready") return;
  leave();
  set({ ...NONE, id, phase: "loading" }, true);
  await load(id, true);
}

export function leave(): void {
  loading?.abort();
  unfollow();
  set(NONE, true);
}

/** The conversation is gone. What was typed in it may have been moved to the box of a new one. */
export function vanish(id: string, moved: boolean): void {
  loading?.abort();
  unfollow();
  set({ ...NONE, id, phase: "missing", moved }, true);
}

/** Reads the newest page again: the log went another way than this page knows, or another tab changed something. */
export async function reload(): Promise<void> {
  const { id } = get();
  if (id) await load(id, false);
}

async function load(id: string, first: boolean): Promise<void> {
  loading?.abort();
  const abort = new AbortController();
  loading = abort;
  const since = moment();
  try {
    const snapshot = await api.snapshot(id, null, PAGE, abort.signal);
    if (abort.signal.aborted || get().id !== id) return;
    show(snapshot, first, since);
    void loadArtifacts();
  } catch (error) {
    if (abort.signal.aborted || get().id !== id) return;
    const missing = error instanceof ApiError && (error.status === 404 || error.status === 422);
    if (missing) {
      vanish(id, rescue(id, false));
      return;
    }
    if (first) set({ phase: "failed" });
    setTimeout(() => get().id === id && loading === abort && void load(id, first), AGAIN);
  }
}

function entryOf(turn: SeenTurn): Entry {
  const { messages: _m, interrupts: _i, running_tools: _r, writing_tools: _w, notes: _n, artifacts: _a, cursor: _c, ...meta } = turn;
  return { turn: meta, log: fromSnapshot(turn) };
}

/** Shows what was asked for at this moment of the list. With `stay` the stream of a turn that goes on is not begun anew. */
export function show(snapshot: Snapshot, first: boolean, since: number, stay = false): void {
  catchUp();
  const fresh = snapshot.turns.map(entryOf);
  const known = new Map(get().entries.map((entry) => [entry.turn.id, entry]));
  const join = fresh[0] ? get().entries.findIndex((entry) => entry.turn.id === fresh[0]?.turn.id) : -1;
  // Pages that were scrolled to stay, as long as they lead to the first turn of this one.
  const older = !first && join > 0 ? get().entries.slice(0, join) : [];
  const entries = [...older, ...fresh.map((entry) => kept(known.get(entry.turn.id), entry))];
  const last = entries.at(-1);
  const stays = stay && last !== undefined && skipTo(last);
  if (!stays) unfollow();
  const conversation = putAnswer(snapshot.conversation, since);
  set({
    phase: "ready",
    conversation,
    entries,
    before: older.length > 0 ? get().before : snapshot.before,
    sending: null,
    mark: first ? markOf(snapshot.conversation.id, entries, snapshot.read ?? null) : get().mark,
  });
  if (last && !stays) follow(last);
}

/** Follows the newest turn. */
export function follow(entry: Entry): void {
  watch(entry, { stale: () => void reload(), documents: () => void loadArtifacts() });
}

/** A turn that has not changed keeps its identity, so that it is not drawn again. */
function kept(known: Entry | undefined, fresh: Entry): Entry {
  if (!known || known.log.stale || !(isSame(known, fresh) || isAhead(known, fresh))) return fresh;
  return known.turn.siblings?.length === fresh.turn.siblings?.length ? known : { ...known, turn: fresh.turn };
}

const isSame = (known: Entry, fresh: Entry): boolean => known.log.cursor === fresh.log.cursor && known.turn.status === fresh.turn.status;

/** The stream has told more of the running turn than the snapshot, which was read before: no shown word may vanish for a moment. */
function isAhead({ log: known }: Entry, { log: fresh }: Entry): boolean {
  return isLive(known.status) && isLive(fresh.status) && attemptOf(known.cursor) === attemptOf(fresh.cursor) && known.cursor > fresh.cursor;
}

export async function loadOlder(): Promise<void> {
  const { id, before, older } = get();
  if (!id || !before || older === "loading") return;
  set({ older: "loading" });
  try {
    const page = await api.snapshot(id, before, PAGE);
    if (get().id !== id) return;
    // Another branch was opened meanwhile: its own earlier messages can be asked for.
    if (get().before !== before) set({ older: "idle" });
    else set((state) => ({ entries: [...page.turns.map(entryOf), ...state.entries], before: page.before, older: "idle" }));
  } catch {
    if (get().id === id) set({ older: get().before === before ? "failed" : "idle" });
  }
}

/** The documents of the conversation have changed. */
export async function loadArtifacts(): Promise<void> {
  const { id } = get();
  if (!id) return;
  const found = await api.artifacts(id).catch(() => null);
  if (found && get().id === id) set((state) => ({ artifacts: found.artifacts, revision: state.revision + 1 }));
}
