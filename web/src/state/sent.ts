// Messages that were sent and of which the page does not know yet whether they arrived. Each is kept with its key: the same
// text goes out again under the same key, and cannot arrive twice. A new tab finds what a closed one has sent. As long as the
// other tab lives, the same text is another message.
import { newKey } from "../api/client";
import type { NewTurn } from "../api/types";
import { SENT, storeDraft, storedDraft } from "./drafts";
import { kept } from "./kept";
import { takeOver, thisPage } from "./living";
import type { Entry } from "./thread";

export interface Sent {
  key: string;
  body: NewTurn;
  /** The turn after which it comes; undefined: this page did not know it. */
  after?: string | null | undefined;
  /** The turns that were there already, after the same one. */
  besides: string[];
  /** The server did not take it: the next try is another request. */
  refused?: boolean;
  /** The page that has sent it. A page of an older version does not say. */
  page?: string;
  /** The last try was refused before the message was looked at. Whether an earlier one arrived is not known. */
  unread?: boolean;
}

const place = (name: string) => SENT + name;
/** A message that replaces another one is not the one in the box. */
export const editOf = (id: string) => `${id}.edit`;

export function sentOf(name: string): Sent | null {
  try {
    const found = JSON.parse(storedDraft(place(name)) ?? "null") as Partial<Sent> | null;
    return typeof found?.key === "string" && typeof found.body?.content === "string" && Array.isArray(found.besides) ? (found as Sent) : null;
  } catch {
    return null;
  }
}

/** The message of this box that this tab has sent and of which nobody knows whether it arrived. */
export function unansweredOf(name: string, text: string): boolean {
  const sent = sentOf(name);
  return sent !== null && !sent.refused && !sent.unread && sent.body.content === text && kept(`draft.${place(name)}`, "tab") !== null;
}

export function keepSent(name: string, sent: Sent): void {
  storeDraft(place(name), JSON.stringify(sent));
}

/** Another tab may have sent something since. */
export function dropSent(name: string, key?: string): void {
  if (key === undefined || sentOf(name)?.key === key) storeDraft(place(name), null);
}

/** The request for this message: the one of the last try, if it was for the same and no other page that lives has sent it. That may
 * have to be asked. */
export function sentAs(name: string, body: NewTurn, after: string | null | undefined, besides: string[] = []): Sent | Promise<Sent> {
  const known = sentOf(name);
  // After a reload no agent is chosen.
  const agent = body.agent === undefined || known?.body.agent === body.agent;
  const same = known && !known.refused && agent && known.body.content === body.content && known.body.parent === body.parent;
  const page = thisPage();
  const fresh = { key: newKey(), body, after, besides, page };
  if (!same) return fresh;
  if (known.page === undefined || known.page === page) return { ...known, page };
  return takeOver(known.page).then((free) => (free ? { ...known, page } : fresh));
}

export function hasArrived(sent: Sent, entries: readonly Entry[]): boolean {
  if (sent.refused || sent.after === undefined) return false;
  const text = sent.body.content.trim();
  return entries.some(({ turn }) => turn.parent_id === sent.after && turn.content.trim() === text && !sent.besides.includes(turn.id));
}

/** What the person writes in place of this turn's message, or wrote, if that was not taken. */
export function writtenInstead({ turn }: Entry): string | null {
  const sent = sentOf(editOf(turn.conversation_id));
  return storedDraft(insteadOf(turn)) ?? (sent?.besides.includes(turn.id) ? sent.body.content : null);
}

const insteadOf = ({ conversation_id, id }: Pick<Entry["turn"], "conversation_id" | "id">) => `instead.${conversation_id}.${id}`;

/** Whether another message in its place was begun in this tab. */
export function isBegun({ turn }: Entry): boolean {
  return kept(`draft.${insteadOf(turn)}`, "tab") !== null;
}

export function keepInstead({ turn }: Entry, text: string): void {
  storeDraft(insteadOf(turn), text === turn.content ? null : text);
}

/** The message is there, in place of an earlier one. What was changed in it since stays. */
export function dropWritten(conversation_id: string, { body, besides }: Sent): void {
  for (const place of besides.map((id) => insteadOf({ conversation_id, id }))) if (storedDraft(place) === body.content) storeDraft(place, null);
}

/** The person does not want to replace the message any more, or has done so. */
export function dropInstead({ turn }: Entry): void {
  storeDraft(insteadOf(turn), null);
}
