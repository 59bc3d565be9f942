// The documents that agents are writing, from the first word until their versions are known.
import { whole, type Members } from "./members";
import { isLive, type TurnLog } from "./turn";

/** A replacement in a document. */
export interface Update {
  old: string;
  /** Whether the old text has arrived to its end. */
  whole: boolean;
  /** The new text as far as it has arrived; null before its first word. */
  new: string | null;
}

/** A document that is being written, as far as its words have arrived. Of a new one the title and the type come with them. */
export interface WrittenDocument {
  id: string;
  title: string | null;
  type: string | null;
  /** The whole text; null if only a part of the newest version that is stored changes. */
  content: string | null;
  /** What is replaced in it, one after the other. Only the last one may be incomplete. */
  updates: readonly Update[];
}

const WRITES: ReadonlySet<string> = new Set(["create_artifact", "rewrite_artifact"]);
const UPDATES = "update_artifact";

/** `versions` are the newest versions that this page knows: a document counts as written until it is one of them. */
export function writtenDocuments(log: TurnLog, versions: ReadonlyMap<string, number>): WrittenDocument[] {
  const found = new Map<string, WrittenDocument>();
  const put = (document: WrittenDocument): void => {
    const before = document.content === null ? found.get(document.id) : undefined;
    found.set(document.id, before ? { ...before, updates: [...before.updates, ...document.updates] } : document);
  };
  const working = isLive(log.status) && log.status !== "waiting";
  const { done, open } = callsOf(log);
  for (const { id, version } of log.documents) {
    const unknown = version - (versions.get(id) ?? 0);
    if (unknown > 0) done.filter((document) => document.id === id).slice(-unknown).forEach(put);
  }
  if (!working) return [...found.values()];
  open.forEach(put);
  for (const { name, members } of log.drafts.flatMap((draft) => draft.calls)) {
    const document = ofMembers(name, members);
    if (document) put(document);
  }
  return [...found.values()];
}

/** The newest document of which a model writes words right now. */
export function beingWritten({ status, drafts }: TurnLog): string | null {
  if (status !== "running") return null;
  const ids = drafts.flatMap((draft) => draft.calls).flatMap(({ name, members }) => ofMembers(name, members)?.id ?? []);
  return ids.at(-1) ?? null;
}

/** The document that has begun to be written since the page saw `before`; null for the first sight of a turn, of which only words that
 * arrive now are news. A short document begins and ends between two sights. */
export function begunSince(before: TurnLog | null, log: TurnLog): string | null {
  const writing = beingWritten(log);
  if (writing !== null || before === null || before.finished === log.finished) return writing;
  const known = new Set(before.finished.flatMap((message) => message.tool_calls).map((call) => call.id));
  const fresh = log.finished.flatMap((message) => message.tool_calls).filter((call) => !known.has(call.id));
  return fresh.flatMap((call) => ofArguments(call.name, call.args)?.id ?? []).at(-1) ?? null;
}

/** What complete calls write: those that have been done, and those that have no result yet. */
function callsOf(log: TurnLog): { done: WrittenDocument[]; open: WrittenDocument[] } {
  const results = new Map(log.finished.flatMap((message) => (message.role === "tool" ? [[message.tool_call_id, message] as const] : [])));
  const done: WrittenDocument[] = [];
  const open: WrittenDocument[] = [];
  for (const call of log.finished.flatMap((message) => message.tool_calls)) {
    const result = results.get(call.id);
    const document = ofArguments(call.name, log.running.find((item) => item.id === call.id)?.args ?? result?.args ?? call.args);
    if (document && result === undefined) open.push(document);
    else if (document && result?.status === "ok") done.push(document);
  }
  return { done, open };
}

function ofArguments(name: string, { id, title, content_type: type, content, old, new: next }: Record<string, unknown>): WrittenDocument | null {
  if (typeof id !== "string") return null;
  if (name === UPDATES) return typeof old === "string" && typeof next === "string" ? changed(id, { old, whole: true, new: next }) : null;
  if (!WRITES.has(name) || typeof content !== "string") return null;
  return { id, title: typeof title === "string" ? title : null, type: typeof type === "string" ? type : null, content, updates: [] };
}

function ofMembers(name: string, members: Members): WrittenDocument | null {
  const id = whole(members, "id");
  const { content, old, new: next } = members.values;
  if (!id) return null;
  if (name === UPDATES) return old === undefined ? null : changed(id, { old, whole: whole(members, "old") !== null, new: next ?? null });
  if (!WRITES.has(name) || content === undefined) return null;
  return { id, title: whole(members, "title"), type: whole(members, "content_type"), content, updates: [] };
}

function changed(id: string, update: Update): WrittenDocument {
  return { id, title: null, type: null, content: null, updates: [update] };
}
