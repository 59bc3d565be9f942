// Other tabs and devices: what they do in the open conversation is seen here.
import { ApiError } from "../api/client";
import type { Conversation } from "../api/types";
import { isLive } from "../log/turn";
import { onFeed, type FeedEvents } from "./feed";
import { useList } from "./list";
import { reload, vanish } from "./opening";
import { draftOf, nameOf, takeOut, useAway, useDrafts } from "./drafts";
import { rescueAll } from "./rescue";
import { dropSent, dropWritten, editOf, hasArrived, sentOf, unansweredOf } from "./sent";
import { NONE, UNANSWERED, useThread, type Entry, type Thread } from "./thread";
import { editTurn, useView } from "./view";

const get = useThread.getState;
const set = useThread.setState;

/** Looks on while other tabs and devices go on with the conversation. */
export function followOthers(): () => void {
  if (get().id === null) remind(null);
  const forget = useThread.subscribe(look);
  const end = onFeed((name, data) => {
    const { id, phase } = get();
    if (name === "conversation_deleted") {
      const deleted = (data as FeedEvents["conversation_deleted"]).id;
      const moved = rescueAll(deleted);
      if (deleted === id && phase !== "missing") vanish(id, moved);
      return;
    }
    if (!id || phase !== "ready") return;
    if (name === "reset") void reload();
    if (name === "conversation") moved(data as Conversation);
  });
  return () => {
    forget();
    end();
  };
}

/** What is not true any more: a message without an answer is there after all, or the answer that was in the way has ended. */
function look(now: Thread, before: Thread): void {
  const last = now.entries.at(-1);
  const old = before.entries.at(-1);
  const same = now.id === before.id && last?.turn.id === old?.turn.id;
  if (now.id && !same) arrivals(now.id, now);
  if (now.id && now.phase === "ready" && before.phase !== "ready") remind(now.id);
  if (now === NONE) remind(null);
  const ended = same && runs(old) && !runs(last);
  const { fault } = get();
  if (ended && fault?.code === "run_in_progress") set({ fault: null });
  if (fault?.code === "too_soon" && !runs(old) && runs(last)) set({ fault: null });
  // What had no response was done, or the server is heard again.
  if (fault?.code === "unreachable" && now.id === before.id && (!same || last?.log.status !== old?.log.status)) set({ fault: null });
  if (now.id !== before.id) seen = undefined;
  else if (before.sending && !now.sending) elsewhere();
}

const runs = (entry: Entry | undefined): boolean => entry?.log.status === "queued" || entry?.log.status === "running";

function arrivals(id: string, { entries }: Thread): void {
  for (const name of [nameOf(id), editOf(id)]) {
    const sent = sentOf(name);
    if (!sent || !hasArrived(sent, entries)) continue;
    dropSent(name);
    if (name === nameOf(id)) takeOut(id, sent.body.content);
    else {
      dropWritten(id, sent);
      if (sent.besides.includes(useView.getState().editing ?? "")) editTurn(null);
    }
    if (get().fault?.code === UNANSWERED) set({ fault: null });
  }
}

/** After a reload too, a message in the box that had no answer is not sent yet. */
function remind(id: string | null): void {
  const { fault, sending } = get();
  const text = draftOf(useDrafts.getState(), id);
  const away = useAway.getState()[nameOf(id)] !== undefined;
  if (!fault && !sending && !away && unansweredOf(nameOf(id), text)) set({ fault: new ApiError(0, UNANSWERED, "") });
}

/** The branch may have gone on elsewhere: then this page does not have its newest turn, or takes it for ended. */
function moved(row: Conversation): void {
  const { id, conversation, entries } = get();
  if (row.id !== id) return;
  if (conversation && conversation.title !== row.title) set({ conversation: { ...conversation, title: row.title } });
  if (!differs(row)) return;
  seen = entries.at(-1) ?? null;
  elsewhere();
}

function differs(row: Conversation): boolean {
  const last = get().entries.at(-1);
  const goesOn = row.status === "running" && last !== undefined && !isLive(last.log.status);
  return (row.active_turn ?? null) !== (last?.turn.id ?? null) || goesOn;
}

/** The newest turn when the feed told of a change that this page did not have; undefined: it told of none. */
let seen: Entry | null | undefined;
let soon: ReturnType<typeof setTimeout> | undefined;

/** Waits a moment: the response to this page's own request may be on its way. While a message is sent nothing is read again:
 * that is made up for as soon as it is sent or given up. */
function elsewhere(): void {
  clearTimeout(soon);
  soon = setTimeout(() => {
    const { id, entries, sending } = get();
    const row = id ? useList.getState().rows[id] : undefined;
    if (!row || sending) return;
    const last = entries.at(-1) ?? null;
    // A turn that went on and ended within the moment leaves the row as it was.
    const untouched = seen !== undefined && last === seen;
    seen = undefined;
    if (untouched || differs(row)) void reload();
  }, 400);
}
