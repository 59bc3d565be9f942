// The conversation that is open: its turns, and the stream of the newest one.
import { create } from "zustand";

import * as api from "../api/calls";
import { ApiError, newKey } from "../api/client";
import type { Artifact, Conversation, NewTurn, SeenTurn, Snapshot, Turn } from "../api/types";
import { isKnown } from "../log/events";
import { fromSnapshot } from "../log/snapshot";
import { EMPTY, isLive, reduce, type TurnLog } from "../log/turn";
import type { Frame } from "../stream/frames";
import { follow, type Link } from "../stream/link";
import { useAgents } from "./agents";
import { noteClosed } from "./answers";
import { caughtUp, countWords, hold, report } from "./connection";
import { onFeed, type FeedEvents } from "./feed";
import { putRow, useList } from "./list";
import { markOf, type ReadMark } from "./reading";
import { go, pathOf } from "./route";

export type TurnMeta = Omit<SeenTurn, "messages" | "interrupts" | "running_tools" | "notes" | "cursor">;

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
}

const NONE: Thread = {
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
};

/** Turns in one page. A conversation opens with the newest page; older ones come while scrolling up. */
const PAGE = 30;
/** Milliseconds after a reconnection in which arriving words count as caught up. */
const CATCH_UP = 1200;
/** Milliseconds between two updates of a page that nobody sees. */
const HIDDEN = 250;

export const useThread = create<Thread>()(() => NONE);
const get = useThread.getState;
const set = useThread.setState;

let loading: AbortController | undefined;

// --- opening

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

/** Reads the newest page again: the log went another way than this page knows, or another tab changed something. */
export async function reload(): Promise<void> {
  const { id } = get();
  if (id) await load(id, false);
}

async function load(id: string, first: boolean): Promise<void> {
  loading?.abort();
  const abort = new AbortController();
  loading = abort;
  try {
    const snapshot = await api.snapshot(id, null, PAGE, abort.signal);
    if (abort.signal.aborted || get().id !== id) return;
    show(snapshot, first);
    void loadArtifacts();
  } catch (error) {
    if (abort.signal.aborted || get().id !== id) return;
    const missing = error instanceof ApiError && (error.status === 404 || error.status === 422);
    if (first || missing) set({ phase: missing ? "missing" : "failed" });
    if (!missing && first) setTimeout(() => get().id === id && get().phase === "failed" && void load(id, true), 3000);
  }
}

function entryOf(turn: SeenTurn): Entry {
  const { messages: _m, interrupts: _i, running_tools: _r, notes: _n, cursor: _c, ...meta } = turn;
  return { turn: meta, log: fromSnapshot(turn) };
}

function show(snapshot: Snapshot, first: boolean): void {
  unfollow();
  const fresh = snapshot.turns.map(entryOf);
  const known = new Map(get().entries.map((entry) => [entry.turn.id, entry]));
  const join = fresh[0] ? get().entries.findIndex((entry) => entry.turn.id === fresh[0]?.turn.id) : -1;
  // Pages that were scrolled to stay, as long as they lead to the first turn of this one.
  const older = !first && join > 0 ? get().entries.slice(0, join) : [];
  const entries = [...older, ...fresh.map((entry) => kept(known.get(entry.turn.id), entry))];
  const row = useList.getState().rows[snapshot.conversation.id];
  set({
    phase: "ready",
    conversation: snapshot.conversation,
    entries,
    before: older.length > 0 ? get().before : snapshot.before,
    sending: null,
    mark: first ? markOf(snapshot.conversation.id, entries, snapshot.read ?? null) : get().mark,
  });
  putRow({ ...row, ...snapshot.conversation });
  const last = entries.at(-1);
  if (last) watch(last);
}

/** A turn that has not changed keeps its identity, so that it is not drawn again. */
function kept(known: Entry | undefined, fresh: Entry): Entry {
  if (!known || known.log.stale || known.log.cursor !== fresh.log.cursor || known.turn.status !== fresh.turn.status) return fresh;
  return known.turn.siblings?.length === fresh.turn.siblings?.length ? known : { ...known, turn: fresh.turn };
}

export async function loadOlder(): Promise<void> {
  const { id, before, older } = get();
  if (!id || !before || older === "loading") return;
  set({ older: "loading" });
  try {
    const page = await api.snapshot(id, before, PAGE);
    if (get().id !== id || get().before !== before) return;
    set((state) => ({ entries: [...page.turns.map(entryOf), ...state.entries], before: page.before, older: "idle" }));
  } catch {
    if (get().id === id) set({ older: "failed" });
  }
}

async function loadArtifacts(): Promise<void> {
  const { id } = get();
  if (!id) return;
  const found = await api.artifacts(id).catch(() => null);
  if (found && get().id === id) set((state) => ({ artifacts: found.artifacts, revision: state.revision + 1 }));
}

// --- following the newest turn

let link: Link | null = null;
let followed: string | null = null;
let waiting: Frame[] = [];
let frame: number | undefined;
let countingUntil = 0;

function unfollow(): void {
  link?.close();
  if (link) hold("turn", null);
  link = null;
  followed = null;
  waiting = [];
}

function watch({ turn, log }: Entry): void {
  if (!isLive(log.status)) return;
  unfollow();
  followed = turn.id;
  link = follow({
    url: api.eventsOf(turn.id),
    after: log.cursor ? String(log.cursor) : "",
    untilDone: true,
    onFrame: (received) => {
      waiting.push(received);
      schedule();
    },
    onState: (state) => {
      if (state.kind === "ended") {
        hold("turn", null);
        link = null;
        if (state.why === "gone") void reload();
        else if (isLive(logOf(turn.id)?.status ?? "done")) void reload();
      } else if (report("turn", state)) countingUntil = Date.now() + CATCH_UP;
    },
  });
  hold("turn", link);
}

/** What arrives within one frame is drawn at once. */
function schedule(): void {
  if (frame !== undefined) return;
  frame = document.hidden ? window.setTimeout(flush, HIDDEN) : requestAnimationFrame(flush);
}

function logOf(id: string): TurnLog | undefined {
  return get().entries.find((entry) => entry.turn.id === id)?.log;
}

function update(id: string, change: (log: TurnLog) => TurnLog): void {
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

function flush(): void {
  frame = undefined;
  const id = followed;
  const before = id ? logOf(id) : undefined;
  const frames = waiting;
  waiting = [];
  if (!id || !before || frames.length === 0) return;
  let log = before;
  let words = 0;
  const counts = Date.now() < countingUntil;
  let closed = false;
  for (const item of frames) {
    const event = { id: Number(item.id), name: item.event, data: JSON.parse(item.data) as unknown };
    log = reduce(log, event);
    if (!isKnown(event)) continue;
    if (counts && event.name === "text_delta") words += countWords(event.data.text);
    if (event.name === "segment_ended" && !isLive(log.status)) closed = true;
    if (event.name === "interrupt_closed") {
      const { id: question, outcome, answer } = event.data;
      noteClosed(question, outcome, typeof answer.decision === "string" ? answer.decision : null);
    }
  }
  if (log.stale) {
    void reload();
    return;
  }
  update(id, () => log);
  if (words > 0) caughtUp(words);
  if (log.documents !== before.documents) void loadArtifacts();
  if (log.title !== before.title && log.title !== null) retitle(log.title);
  if (log.status !== before.status) settled(log);
  if (closed) unfollow();
}

function retitle(title: string): void {
  const { conversation } = get();
  if (!conversation) return;
  set({ conversation: { ...conversation, title } });
  const row = useList.getState().rows[conversation.id];
  if (row) putRow({ ...row, title });
}

function settled(log: TurnLog): void {
  set({ stopping: false });
  const { conversation } = get();
  const row = conversation ? useList.getState().rows[conversation.id] : undefined;
  const status = log.status === "waiting" ? "interrupted" : isLive(log.status) ? "running" : "idle";
  if (row) putRow({ ...row, status });
}

// --- what the person does

/** Sends a message at the end of the branch; the first one makes the conversation. Throws nothing: see `fault`. */
export async function send(content: string): Promise<boolean> {
  const supersede = get().entries.at(-1)?.log.status === "waiting";
  return post(content, undefined, { content, ...(supersede ? { supersede } : {}) });
}

/** Sends another message in place of this turn's, as a new branch. */
export async function sendInstead(entry: Entry, content: string): Promise<boolean> {
  return post(content, entry.turn.parent_id, { content, parent: entry.turn.parent_id });
}

async function post(content: string, parent: string | null | undefined, body: NewTurn): Promise<boolean> {
  set({ sending: { content, parent, fault: null }, fault: null });
  try {
    const id = get().id ?? (await begin());
    const agent = useAgents.getState().chosen;
    const turn = await api.send(id, agent ? { ...body, agent } : body, newKey());
    if (get().id === id) began(turn);
    return true;
  } catch (error) {
    set({ sending: null, fault: faultOf(error) });
    return false;
  }
}

async function begin(): Promise<string> {
  const conversation = await api.createConversation(useAgents.getState().chosen);
  putRow(conversation);
  set({ ...NONE, id: conversation.id, phase: "ready", conversation, sending: get().sending }, true);
  go(pathOf(conversation.id));
  return conversation.id;
}

/** A turn has begun: it takes its place on the branch. */
function began(turn: Turn): void {
  const { entries } = get();
  const parentAt = turn.parent_id === null ? -1 : entries.findIndex((entry) => entry.turn.id === turn.parent_id);
  if (turn.parent_id !== null && parentAt < 0) {
    void reload();
    return;
  }
  const replaced = entries[parentAt + 1];
  const siblings = replaced && replaced.turn.id !== turn.id ? [...(replaced.turn.siblings ?? [replaced.turn.id]), turn.id] : [turn.id];
  const agent = useAgents.getState().agents.find((item) => item.name === turn.agent);
  const entry: Entry = { turn: { ...turn, siblings, model: agent?.model ?? null, demo: agent?.demo ?? false, usage: null }, log: { ...EMPTY, status: turn.status } };
  set({ entries: [...entries.slice(0, parentAt + 1), entry], sending: null, mark: null });
  settled(entry.log);
  watch(entry);
}

export async function stop(): Promise<void> {
  const last = get().entries.at(-1);
  if (!last || !isLive(last.log.status)) return;
  set({ stopping: true, fault: null });
  await api.stop(last.turn.id).catch((error: unknown) => set({ stopping: false, fault: faultOf(error) }));
}

export async function retry(entry: Entry): Promise<void> {
  set({ fault: null });
  try {
    await api.retry(entry.turn.id);
    const now = get().entries.at(-1);
    if (now?.turn.id !== entry.turn.id) return;
    update(entry.turn.id, (log) => ({ ...log, status: "queued" }));
    const queued = get().entries.at(-1);
    if (queued) watch(queued);
  } catch (error) {
    set({ fault: faultOf(error) });
  }
}

export async function regenerate(entry: Entry): Promise<void> {
  set({ fault: null });
  try {
    began(await api.regenerate(entry.turn.id));
  } catch (error) {
    set({ fault: faultOf(error) });
  }
}

/** Shows another version: the branch through that turn becomes the active one. */
export async function switchTo(turn: string): Promise<void> {
  const { id } = get();
  if (!id) return;
  try {
    await api.activate(id, turn);
    await reload();
  } catch (error) {
    set({ fault: faultOf(error) });
  }
}

export function clearFault(): void {
  if (get().fault) set({ fault: null });
}

export function clearMark(): void {
  if (get().mark) set({ mark: null });
}

/** The end of a session has a dialog of its own. */
function faultOf(error: unknown): ApiError | null {
  if (error instanceof ApiError && error.status === 401) return null;
  return error instanceof ApiError ? error : new ApiError(0, "unreachable", String(error));
}

// --- other tabs and devices

onFeed((name, data) => {
  const { id, phase } = get();
  if (!id || phase !== "ready") return;
  if (name === "conversation_deleted" && (data as FeedEvents["conversation_deleted"]).id === id) {
    leave();
    set({ ...NONE, id, phase: "missing" }, true);
  }
  if (name === "reset") void reload();
  if (name === "conversation") moved(data as Conversation);
});

/** The branch may have gone on elsewhere: then this page does not have its newest turn, or takes it for ended. */
function moved(row: Conversation): void {
  const { id, entries, sending, conversation } = get();
  if (row.id !== id || sending) return;
  if (conversation && conversation.title !== row.title) set({ conversation: { ...conversation, title: row.title } });
  const last = entries.at(-1);
  const goesOn = row.status === "running" && last && !isLive(last.log.status);
  if ((row.active_turn ?? null) !== (last?.turn.id ?? null) || goesOn) elsewhere();
}

let soon: ReturnType<typeof setTimeout> | undefined;

/** Waits a moment: the response to this page's own request may be on its way. */
function elsewhere(): void {
  clearTimeout(soon);
  soon = setTimeout(() => {
    const { id, entries, sending } = get();
    const row = id ? useList.getState().rows[id] : undefined;
    const last = entries.at(-1);
    if (!row || sending) return;
    const goesOn = row.status === "running" && last && !isLive(last.log.status);
    if ((row.active_turn ?? null) !== (last?.turn.id ?? null) || goesOn) void reload();
  }, 400);
}
