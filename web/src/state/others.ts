// Other tabs and devices: what they do in the open conversation is seen here.
import type { Conversation } from "../api/types";
import { isLive } from "../log/turn";
import { onFeed, type FeedEvents } from "./feed";
import { useList } from "./list";
import { leave, reload } from "./opening";
import { nameOf, takeOut } from "./drafts";
import { dropSent, editOf, hasArrived, sentOf } from "./sent";
import { NONE, useThread, type Entry, type Thread } from "./thread";

const get = useThread.getState;
const set = useThread.setState;

/** Looks on while other tabs and devices go on with the conversation. */
export function followOthers(): () => void {
  const forget = useThread.subscribe(look);
  const end = onFeed((name, data) => {
    const { id, phase } = get();
    if (!id || phase !== "ready") return;
    if (name === "conversation_deleted" && (data as FeedEvents["conversation_deleted"]).id === id) {
      leave();
      set({ ...NONE, id, phase: "missing" }, true);
    }
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
  const ended = same && runs(old) && !runs(last);
  if (ended && get().fault?.code === "run_in_progress") set({ fault: null });
}

const runs = (entry: Entry | undefined): boolean => entry?.log.status === "queued" || entry?.log.status === "running";

function arrivals(id: string, { entries }: Thread): void {
  for (const name of [nameOf(id), editOf(id)]) {
    const sent = sentOf(name);
    if (!sent || !hasArrived(sent, entries)) continue;
    dropSent(name);
    if (name === nameOf(id)) takeOut(id, sent.body.content);
    if (get().fault?.code === "unanswered") set({ fault: null });
  }
}

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
