import { useEffect, useLayoutEffect, useRef, useState } from "react";

import { read } from "../state/reading";
import { loadOlder, reload } from "../state/opening";
import { isBegun } from "../state/sent";
import { useThread } from "../state/thread";
import { editTurn, putAside, useView } from "../state/view";
import { useWords } from "../words/words";
import { Bubble } from "./Bubble";
import { Composer } from "./Composer";
import { First } from "./First";
import { Icon } from "./Icon";
import { Missing, Opening } from "./Opening";
import { Pill } from "./Pill";
import { useScroll } from "./useScroll";
import { useTurns } from "./useTurns";

/** The messages and, below them, where the person writes. Both scroll together, so both have one width. */
export function Conversation({ id }: { id: string | null }) {
  const { say } = useWords();
  const thread = useThread();
  const editing = useView((state) => state.editing);
  const scroller = useRef<HTMLDivElement>(null);
  const column = useRef<HTMLDivElement>(null);
  const turns = useTurns();
  const { entries, mark } = thread;
  const sending = thread.id === id ? thread.sending : null;
  const phase = thread.phase === "ready" && !turns ? "loading" : thread.phase;
  const here = id !== null && thread.id === id;
  const isNew = id === null && !sending;
  const scroll = useScroll(scroller, column, here && phase === "ready" ? id : null, entries[0]?.turn.id, mark !== null);
  useReading(here, scroll.atEnd);
  useEditing(here && phase === "ready" ? id : null);
  useOlder(scroller, here ? thread.before : null, thread.older === "idle");

  const edited = editing ? entries.find((entry) => entry.turn.id === editing) : undefined;
  // A message that replaces another one stands where the other stood.
  const cut = sending && sending.parent !== undefined ? entries.findIndex((entry) => entry.turn.id === sending.parent) + 1 : entries.length;
  const shownEntries = here ? entries.slice(0, cut) : [];
  const begins = shownEntries.findLast((entry) => entry.log.model !== null)?.log.contextFrom ?? null;
  const pending = here ? (entries.at(-1)?.log.pending ?? []) : [];

  useEffect(() => {
    if (sending) scroll.toEnd();
    // oxlint-disable-next-line react/exhaustive-deps
  }, [sending]);

  return (
    <div className={`scroll${scroll.atEnd ? "" : " free"}`} ref={scroller} tabIndex={-1} id="scroll">
      <div className={isNew ? "col first" : "col"} ref={column} role="log" aria-live="off" aria-label={say("messages")}>
        {isNew ? <First /> : null}
        {here && phase === "loading" ? <Opening /> : null}
        {here && phase === "missing" ? <Missing text={say("notFound")} more={thread.moved ? say("draftMoved") : ""} /> : null}
        {here && phase === "failed" ? <Missing text={say("loadFailed")} again={() => void reload()} /> : null}
        {here && turns && thread.before ? (
          <p className="older" aria-live="off">
            <button type="button" className="btn bare tight" disabled={thread.older === "loading"} onClick={() => void loadOlder()}>
              {say("showOlder")}
            </button>
          </p>
        ) : null}
        {turns?.chunks(shownEntries).map((chunk) => (
          <turns.Chunk
            key={chunk.key}
            entries={chunk.entries}
            last={sending ? null : (shownEntries.at(-1)?.turn.id ?? null)}
            editing={editing}
            editedOrdinal={edited?.turn.ordinal ?? Infinity}
            mark={mark}
            begins={begins}
            findable={shownEntries.length <= turns.FINDABLE}
            scroller={scroller}
          />
        ))}
        {sending ? (
          <div className="leaf last">
            <div className="said">
              <Bubble text={sending.content} />
            </div>
          </div>
        ) : null}
      </div>
      {here && phase === "missing" ? null : (
        <div className="dock veil">
          <Pill
            atEnd={scroll.atEnd || isNew || !here}
            pending={pending}
            scroller={scroller}
            toEnd={() => {
              putAside(
                pending.map((item) => item.id),
                false,
              );
              scroll.toEnd();
            }}
          />
          <div className="col">
            <Composer id={id} />
          </div>
        </div>
      )}
    </div>
  );
}

/** What was on the screen, to its end, counts as read. */
function useReading(here: boolean, atEnd: boolean): void {
  const last = useThread((state) => state.entries.at(-1));
  const id = useThread((state) => state.id);
  const newest = useRef({ last, id, atEnd, here });
  useLayoutEffect(() => {
    newest.current = { last, id, atEnd, here };
  });
  useEffect(() => {
    const tell = (): void => {
      const now = newest.current;
      if (now.here && now.atEnd && now.last && now.id) void read(now.id, now.last);
    };
    const timer = setInterval(() => !document.hidden && tell(), 5000);
    // What is on the screen in the moment in which the page goes out of sight was seen.
    const hidden = (): void => {
      if (document.hidden) tell();
    };
    document.addEventListener("visibilitychange", hidden);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", hidden);
      if (!document.hidden) tell();
    };
  }, [id]);
}

/** A message that was being edited in this tab when the conversation was left is edited on. */
function useEditing(id: string | null): void {
  useEffect(() => {
    const entry = id === null ? undefined : useThread.getState().entries.find(isBegun);
    if (entry) editTurn(entry.turn.id);
  }, [id]);
}

/** Loads the page before the first one when its beginning comes near. */
function useOlder(scroller: React.RefObject<HTMLDivElement | null>, before: string | null, idle: boolean): void {
  const [wanted, setWanted] = useState(false);
  useEffect(() => {
    const box = scroller.current;
    if (!box || !before) return;
    const look = (): void => setWanted(box.scrollTop < 1200);
    const timer = setTimeout(look, 300);
    box.addEventListener("scroll", look, { passive: true });
    return () => {
      clearTimeout(timer);
      box.removeEventListener("scroll", look);
    };
  }, [scroller, before]);
  useEffect(() => {
    if (wanted && before && idle) void loadOlder();
  }, [wanted, before, idle]);
}

export function Latest({ onClick }: { onClick: () => void }) {
  const { say } = useWords();
  return (
    <button type="button" onClick={onClick}>
      {say("latest")}
      <Icon name="arrow-down" small />
    </button>
  );
}
