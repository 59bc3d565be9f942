// What the person does in the open conversation. Nothing here throws: `fault` of the thread tells what was not done.
import * as api from "../api/calls";
import { ApiError, newKey } from "../api/client";
import type { NewTurn, Turn } from "../api/types";
import { EMPTY, isLive } from "../log/turn";
import { useAgents } from "./agents";
import { settled } from "./following";
import { putRow } from "./list";
import { follow, reload } from "./opening";
import { go, pathOf } from "./route";
import { NONE, update, useThread, type Entry } from "./thread";

const get = useThread.getState;
const set = useThread.setState;

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
  follow(entry);
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
    // Its first events may be here before the response.
    update(entry.turn.id, (log) => (isLive(log.status) ? log : { ...log, status: "queued" }));
    const queued = get().entries.at(-1);
    if (queued) follow(queued);
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

/** The end of a session has a dialog of its own. */
function faultOf(error: unknown): ApiError | null {
  if (error instanceof ApiError && error.status === 401) return null;
  return error instanceof ApiError ? error : new ApiError(0, "unreachable", String(error));
}
