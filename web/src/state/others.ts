// Other tabs and devices: what they do in the open conversation is seen here.
import type { Conversation } from "../api/types";
import { isLive } from "../log/turn";
import { onFeed, type FeedEvents } from "./feed";
import { useList } from "./list";
import { leave, reload } from "./opening";
import { NONE, useThread } from "./thread";

const get = useThread.getState;
const set = useThread.setState;

/** Looks on while other tabs and devices go on with the conversation. */
export function followOthers(): () => void {
  return onFeed((name, data) => {
    const { id, phase } = get();
    if (!id || phase !== "ready") return;
    if (name === "conversation_deleted" && (data as FeedEvents["conversation_deleted"]).id === id) {
      leave();
      set({ ...NONE, id, phase: "missing" }, true);
    }
    if (name === "reset") void reload();
    if (name === "conversation") moved(data as Conversation);
  });
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
