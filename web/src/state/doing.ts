// What the person does in the open conversation. Nothing here throws: `fault` of the thread tells what was not done.
import * as api from "../api/calls";
import { ApiError, mayBeDone } from "../api/client";
import type { NewTurn, Turn } from "../api/types";
import { EMPTY, isLive } from "../log/turn";
import { useAgents } from "./agents";
import { adopt, comeBack, nameOf, sendOff, useAway } from "./drafts";
import { settled } from "./following";
import { kept } from "./kept";
import { moment, putAnswer } from "./list";
import { follow, reload } from "./opening";
import { once } from "./once";
import { go, pathOf, useRoute } from "./route";
import { dropSent, editOf, keepSent, sentAs, sentOf, type Sent } from "./sent";
import { NONE, UNANSWERED, update, useThread, type Entry, type Sending } from "./thread";

/** Bytes: the server takes no longer message. */
const LONGEST = 262_144;

const get = useThread.getState;
const set = useThread.setState;

/** Sends a message at the end of the branch of this conversation; without one (null) it makes one. Whatever is open: the
 * box in which the message was written decides. */
export async function send(id: string | null, content: string): Promise<boolean> {
  if (useAway.getState()[nameOf(id)] !== undefined) return false;
  const thread = get();
  const last = thread.id === id ? thread.entries.at(-1) : undefined;
  const known = id === null || (thread.id === id && thread.phase === "ready");
  const body = withAgent({ content, ...(last?.log.status === "waiting" ? { supersede: true } : {}) });
  sendOff(id, content);
  return post(id, sentAs(nameOf(id), body, known ? (last?.turn.id ?? null) : undefined), { content, parent: undefined, fault: null });
}

/** Sends another message in place of this turn's, as a new branch. */
export async function sendInstead({ turn }: Entry, content: string): Promise<boolean> {
  const parent = turn.parent_id;
  const asked = sentAs(editOf(turn.conversation_id), withAgent({ content, parent }), parent, [...(turn.siblings ?? []), turn.id]);
  return post(turn.conversation_id, asked, { content, parent, fault: null });
}

function withAgent(body: NewTurn): NewTurn {
  const agent = useAgents.getState().chosen;
  return agent ? { ...body, agent } : body;
}

async function post(from: string | null, asked: Sent | Promise<Sent>, sending: Sending): Promise<boolean> {
  if (get().id === from) set({ sending, fault: null });
  let id = from;
  const user = kept("user");
  const sent = asked instanceof Promise ? await asked : asked;
  // The person has left meanwhile: nothing of them is kept or sent.
  if (kept("user") !== user) return false;
  keepSent(nameIn(from, sending), sent);
  try {
    id ??= await begin(sent, sending);
    const turn = await api.send(id, sent.body, sent.key);
    if (get().id === id) await began(turn);
    close(id, sent, sending, true);
    return true;
  } catch (error) {
    // It was seen in the conversation before the response was given up.
    if (id && sentOf(nameIn(id, sending)) === null) {
      close(id, sent, sending, true);
      return true;
    }
    keepSent(nameIn(id, sending), { ...sent, ...(mayBeDone(error) ? { unread: isUnread(error) } : { refused: true }) });
    close(id, sent, sending, false);
    if (get().id === id) set({ fault: unsent(error) });
    // Another tab has gone on with the conversation, or the message is there without a response. That may take as long as the sending
    // did: nobody waits for it to get the text back.
    const moved = mayBeDone(error) || (error instanceof ApiError && error.status === 409);
    if (get().id === id && moved) void reload();
    return id !== null && mayBeDone(error) && sentOf(nameIn(id, sending)) === null;
  }
}

/** A message that replaces another one has its own place: it did not come from the box. */
const nameIn = (id: string | null, sending: Sending): string => (sending.parent === undefined || id === null ? nameOf(id) : editOf(id));

/** The message is not on its way any more. */
function close(id: string | null, sent: Sent, sending: Sending, taken: boolean): void {
  if (taken) dropSent(nameIn(id, sending), sent.key);
  if (sending.parent === undefined) comeBack(id, taken);
  if (get().sending === sending) set({ sending: null });
}

/** Whether the request was refused before the message was looked at, such as one for a session that has ended. */
const isUnread = (error: unknown): boolean => error instanceof ApiError && error.status > 0 && error.status < 500;

async function begin(sent: Sent, sending: Sending): Promise<string> {
  // It would be refused, and leave an empty conversation.
  if (new TextEncoder().encode(sent.body.content).length > LONGEST) throw new ApiError(413, "too_large", "");
  // The same message makes the same conversation, also after a reload: then no agent is chosen.
  const since = moment();
  const conversation = putAnswer(await api.createConversation(sent.body.agent ?? null, `${sent.key}.place`), since);
  const { id } = conversation;
  // The person may be elsewhere by now, or may have begun to write another new message.
  const here = get().sending === sending && useRoute.getState().at === "new";
  dropSent(nameOf(null), sent.key);
  keepSent(id, sent);
  adopt(id, here);
  if (here) {
    set({ ...NONE, id, phase: "ready", conversation, sending }, true);
    go(pathOf(id));
  }
  return id;
}

/** A turn has begun: it takes its place on the branch. One that has ended already did not begin with this try: what it said is
 * read with everything else. */
async function began(turn: Turn): Promise<void> {
  const { entries } = get();
  const parentAt = turn.parent_id === null ? -1 : entries.findIndex((entry) => entry.turn.id === turn.parent_id);
  if (!isLive(turn.status) || (turn.parent_id !== null && parentAt < 0)) {
    await reload();
    return;
  }
  // Another tab's news may have brought it before the response.
  if (entries.some((entry) => entry.turn.id === turn.id)) return;
  const replaced = entries[parentAt + 1];
  const siblings = replaced && replaced.turn.id !== turn.id ? [...(replaced.turn.siblings ?? [replaced.turn.id]), turn.id] : [turn.id];
  const agent = useAgents.getState().agents.find((item) => item.name === turn.agent);
  const entry: Entry = { turn: { ...turn, siblings, model: agent?.model ?? null, demo: agent?.demo ?? false, context_from: null, usage: null }, log: { ...EMPTY, status: turn.status } };
  set({ entries: [...entries.slice(0, parentAt + 1), entry], sending: null, mark: null });
  settled(entry.log);
  follow(entry);
}

export async function stop(): Promise<void> {
  const { id, entries } = get();
  const last = entries.at(-1);
  if (!last || !isLive(last.log.status)) return;
  set({ stopping: true, fault: null });
  await api.stop(last.turn.id).catch((error: unknown) => {
    if (get().id === id) set({ stopping: false });
    blame(id, error);
  });
}

export async function retry(entry: Entry): Promise<void> {
  const { id, entries } = get();
  const before = entries.at(-1);
  set({ fault: null });
  try {
    const done = await once(`retry ${entry.turn.id} ${entry.log.seq}`, (key) => api.retry(entry.turn.id, key));
    if (done === null) return;
    const now = get().entries.at(-1);
    if (now?.turn.id !== entry.turn.id) return;
    // It was tried before, and has ended since.
    if (!isLive(done.status)) return await reload();
    // Its first events may be here before the response.
    update(entry.turn.id, (log) => (isLive(log.status) ? log : { ...log, status: "queued" }));
    const queued = get().entries.at(-1);
    if (queued) follow(queued);
  } catch (error) {
    await unsure(id, before, error);
  }
}

export async function regenerate(entry: Entry): Promise<void> {
  const { id, entries } = get();
  const before = entries.at(-1);
  set({ fault: null });
  try {
    const known = [...(entry.turn.siblings ?? [])].sort().join(" ");
    const turn = await once(`regenerate ${entry.turn.id} ${known}`, (key) => api.regenerate(entry.turn.id, key));
    if (turn && get().id === id) await began(turn);
  } catch (error) {
    await unsure(id, before, error);
  }
}

/** Shows another version: the branch through that turn becomes the active one. */
export async function switchTo(turn: string): Promise<void> {
  const { id, entries } = get();
  const before = entries.at(-1);
  if (!id) return;
  try {
    await api.activate(id, turn);
    if (get().id === id) await reload();
  } catch (error) {
    await unsure(id, before, error);
  }
}

/** What was asked for may have been done without a response: then the conversation shows it, maybe already. */
async function unsure(id: string | null, before: Entry | undefined, error: unknown): Promise<void> {
  const last = get().entries.at(-1);
  const done = mayBeDone(error) && (last?.turn.id !== before?.turn.id || last?.log.cursor !== before?.log.cursor);
  if (!done) blame(id, error);
  if (get().id === id && (mayBeDone(error) || (error instanceof ApiError && error.status === 409))) await reload();
}

/** Only the conversation in which it was done tells what was not done. */
function blame(id: string | null, error: unknown): void {
  if (get().id === id) set({ fault: faultOf(error) });
}

/** Tells why a message is not sent while an answer is being written. It is told no longer when that has ended. */
export function explainBusy(): void {
  set({ fault: new ApiError(409, "run_in_progress", "") });
}

/** Tells why a message is not sent just after what it would do has changed. */
export function explainSoon(): void {
  set({ fault: new ApiError(409, "too_soon", "") });
}

/** The server answers again: that it did not is no longer true. A message that was not sent is still not sent. */
export function forgive(): void {
  const { fault } = get();
  if (fault?.unreachable && fault.code !== UNANSWERED) set({ fault: null });
}

export function clearFault(): void {
  if (get().fault) set({ fault: null });
}

/** The end of a session has a dialog of its own. */
function faultOf(error: unknown): ApiError | null {
  if (error instanceof ApiError && error.status === 401) return null;
  return error instanceof ApiError ? error : new ApiError(0, "unreachable", String(error));
}

/** A message without an answer may have arrived. */
function unsent(error: unknown): ApiError | null {
  const fault = faultOf(error);
  return fault?.unreachable ? new ApiError(fault.status, UNANSWERED, fault.message) : fault;
}
