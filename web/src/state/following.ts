// Following the newest turn: its events, as they come, drawn together.
import * as api from "../api/calls";
import { ticks } from "../api/clock";
import { readJson } from "../api/json";
import { isKnown, numberOf } from "../log/events";
import { isLive, reduce, type TurnLog } from "../log/turn";
import type { Frame } from "../stream/frames";
import { follow, type OwnLink } from "../stream/link";
import { noteClosed } from "./answers";
import { caughtUp, countWords, hold, recount, report, useConnection } from "./connection";
import { onFeed, type FeedEvents } from "./feed";
import { putRow, useList } from "./list";
import { logOf, update, useThread, type Entry } from "./thread";

/** Milliseconds after a reconnection in which arriving words count as caught up. */
const CATCH_UP = 1200;
/** Milliseconds between two updates: a reader does not see the difference, a battery does. */
export const PACE = 83;
/** The same for a page that nobody sees. */
const HIDDEN = 250;

/** Milliseconds after which a page that nobody sees stops reading the turn. */
const REST = 20_000;

/** What must be read again. */
interface Then {
  /** The events do not fit what this page has. */
  stale: () => void;
  documents: () => void;
}

const get = useThread.getState;
const set = useThread.setState;

let link: OwnLink | null = null;
let followed: string | null = null;
let next: Then | null = null;
let waiting: Frame[] = [];
/** Set while an update is planned. */
let cancel: (() => void) | null = null;
/** When the page was updated last. */
let updated = -Infinity;
let countingUntil = -Infinity;
let forget: (() => void) | null = null;

export function unfollow(): void {
  forget?.();
  forget = null;
  link?.close();
  if (link) hold("turn", null);
  link = null;
  followed = null;
  waiting = [];
  cancel?.();
  cancel = null;
  updated = -Infinity;
}

/** A snapshot is newer than what the stream of this turn has told: the stream goes on from there. False: it is not followed. */
export function skipTo({ turn, log }: Entry): boolean {
  if (!link || followed !== turn.id || !isLive(log.status)) return false;
  cancel?.();
  cancel = null;
  waiting = [];
  link.skipTo(String(log.cursor));
  return true;
}

export function watch({ turn, log }: Entry, then: Then): void {
  if (!isLive(log.status)) return;
  unfollow();
  followed = turn.id;
  next = then;
  link = follow({
    url: api.eventsOf(turn.id),
    after: log.cursor ? String(log.cursor) : "",
    untilDone: true,
    // A turn that stops without a reader keeps its reader.
    rest: turn.on_disconnect === "stop" ? null : REST,
    placed: turn.on_disconnect !== "stop",
    // While a person is asked, the feed tells when the turn goes on.
    idle: () => logOf(turn.id)?.status === "waiting",
    onFrame: (received) => {
      waiting.push(received);
      // What arrives is stored.
      if (useConnection.getState().full) useConnection.setState({ full: false });
      // Nothing more comes for now: what was said is complete, and an ended turn need not be asked for again.
      if (received.event === "segment_ended") flush();
      else schedule();
    },
    onState: (state) => {
      if (state.kind === "ended") {
        flush();
        hold("turn", null);
        link = null;
        if (state.why === "gone" || isLive(logOf(turn.id)?.status ?? "done")) doubt(turn.id);
      } else if (report("turn", state)) countingUntil = ticks() + CATCH_UP;
    },
  });
  hold("turn", link);
  forget = onFeed((name, data) => {
    if (name === "question_closed" && (data as FeedEvents["question_closed"]).turn_id === turn.id) link?.retry();
    if (name !== "conversation") return;
    const { id, status } = data as FeedEvents["conversation"];
    if (id === turn.conversation_id && status !== "interrupted" && logOf(turn.id)?.status === "waiting") link?.retry();
  });
}

/** The first words are drawn with the next frame, those after them together. */
function schedule(): void {
  if (cancel) return;
  const wait = updated + (document.hidden ? HIDDEN : PACE) - ticks();
  if (wait <= 0) draw();
  else {
    const timer = setTimeout(draw, wait);
    cancel = () => clearTimeout(timer);
  }
}

function draw(): void {
  // A page that nobody sees has no frames.
  if (document.hidden) {
    flush();
    return;
  }
  const frame = requestAnimationFrame(flush);
  cancel = () => cancelAnimationFrame(frame);
}

function flush(): void {
  cancel?.();
  cancel = null;
  updated = ticks();
  const id = followed;
  const before = id ? logOf(id) : undefined;
  const frames = waiting;
  waiting = [];
  // After a doubt the snapshot tells everything.
  if (!id || !before || before.stale || frames.length === 0) return;
  let log = before;
  let words = 0;
  let counts = ticks() < countingUntil;
  let closed = false;
  for (const item of frames) {
    const event = { id: Number(item.id), name: item.event, data: readJson(item.data) };
    // Words that were shown are taken back: what comes now begins again and catches nothing up.
    if (counts && (event.name === "text_voided" || numberOf(event.id) <= log.seq)) {
      words = 0;
      counts = false;
      countingUntil = 0;
      recount();
    }
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
    doubt(id);
    return;
  }
  update(id, () => log);
  if (words > 0) caughtUp(words);
  if (log.documents !== before.documents) next?.documents();
  if (log.title !== before.title && log.title !== null) retitle(log.title);
  if (log.status !== before.status) settled(log);
  if (closed) unfollow();
}

/** What is shown of the turn is not what the server has: it stays until the snapshot is there, and then it goes. */
function doubt(id: string): void {
  update(id, (log) => ({ ...log, stale: true }));
  next?.stale();
}

/** Shows at once what has arrived. */
export function catchUp(): void {
  if (waiting.length > 0) flush();
}

function retitle(title: string): void {
  const { conversation } = get();
  if (!conversation) return;
  set({ conversation: { ...conversation, title } });
  const row = useList.getState().rows[conversation.id];
  if (row) putRow({ ...row, title });
}

export function settled(log: TurnLog): void {
  set({ stopping: false });
  const { conversation } = get();
  const row = conversation ? useList.getState().rows[conversation.id] : undefined;
  const status = log.status === "waiting" ? "interrupted" : isLive(log.status) ? "running" : "idle";
  if (row) putRow({ ...row, status });
}
