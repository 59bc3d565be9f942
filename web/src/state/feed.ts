// The stream over all conversations of the person: sidebar, inbox and other tabs live from it. Nothing polls.
import { FEED } from "../api/calls";
import { readJson } from "../api/json";
import type { Conversation, Interrupt } from "../api/types";
import type { Frame } from "../stream/frames";
import { followTogether } from "../stream/together";
import { noteClosed } from "./answers";
import { hold, report } from "./connection";
import { dropAsked, loadInbox, setCount, useInbox } from "./inbox";
import { dropRow, loadList, putRow } from "./list";
import { checkPerson, useSession } from "./session";

export interface FeedEvents {
  /** A server of an older version does not tell whose feed it is. */
  ready: { inbox: number; user_id?: string };
  conversation: Conversation;
  conversation_deleted: { id: string };
  question_opened: { interrupt: Interrupt; conversation_id: string; turn_id: string };
  /** A server of an older version does not tell the decision. */
  question_closed: { interrupt_id: string; conversation_id: string; turn_id: string; outcome: string; decision?: string | null };
  inbox: { count: number };
  reset: Record<string, never>;
}

type Listener = (name: keyof FeedEvents, data: FeedEvents[keyof FeedEvents]) => void;
const listeners = new Set<Listener>();

export function onFeed(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const HANDLERS: { [Name in keyof FeedEvents]: (data: FeedEvents[Name]) => void } = {
  ready: ({ inbox, user_id }) => {
    // A stream that begins again may be another person's.
    if (user_id !== undefined) checkPerson(user_id);
    setCount(inbox);
  },
  conversation: putRow,
  conversation_deleted: ({ id }) => dropRow(id),
  question_opened: () => {
    if (useInbox.getState().phase !== "empty") void loadInbox();
  },
  question_closed: ({ interrupt_id, outcome, decision }) => {
    noteClosed(interrupt_id, outcome, decision ?? null);
    dropAsked(interrupt_id);
  },
  inbox: ({ count }) => setCount(count),
  reset: () => {
    void loadList();
    if (useInbox.getState().phase !== "empty") void loadInbox();
  },
};

/** Takes what the feed tells, or would have told. */
export function received(frame: Frame): void {
  if (!Object.hasOwn(HANDLERS, frame.event)) return;
  const name = frame.event as keyof FeedEvents;
  const data = readJson(frame.data) as FeedEvents[typeof name];
  (HANDLERS[name] as (data: unknown) => void)(data);
  for (const listener of listeners) listener(name, data);
}

/** Milliseconds: the title of a tab in the background counts what waits, for a while. */
const REST = 300_000;

/** What a tab must know first. */
let begun: { frame: Frame; user_id?: string | undefined } | null = null;

export function followFeed(): () => void {
  begun = null;
  const link = followTogether({
    // Tabs of another person, which are about to be emptied, follow another feed.
    name: `caesura.feed.${useSession.getState().user}`,
    url: FEED,
    after: "",
    untilDone: false,
    rest: REST,
    onFrame: (frame) => {
      if (frame.event === "ready") begun = { frame, user_id: (JSON.parse(frame.data) as FeedEvents["ready"]).user_id };
      received(frame);
    },
    greeting: () => begun && { ...begun.frame, data: JSON.stringify({ inbox: useInbox.getState().count, user_id: begun.user_id }) },
    onGap: () => received({ id: "", event: "reset", data: "{}" }),
    onState: (state) => {
      if (state.kind === "ended") hold("feed", null);
      else report("feed", state);
    },
  });
  hold("feed", link);
  return () => {
    link.close();
    hold("feed", null);
  };
}
