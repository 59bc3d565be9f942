import { memo, Suspense, useEffect, useId, useRef, useState } from "react";

import { ApiError } from "../api/client";
import type { Conversation } from "../api/types";
import { shownLine } from "../log/shown";
import { useConnection } from "../state/connection";
import { renameConversation, useList } from "../state/list";
import { pathOf } from "../state/route";
import { renameRow, useView } from "../state/view";
import { refusalText } from "../words/faults";
import { useWords } from "../words/words";
import { Bars, Icon } from "./Icon";
import { ConversationMenu } from "./lazy";
import { visit } from "./Sidebar";

interface RowProps {
  row: Conversation;
  current: boolean;
  /** The one row to which Tab leads. The arrows lead to the others. */
  stop: boolean;
  onStop: (id: string) => void;
}

export const Row = memo(function Row({ row, current, stop, onStop }: RowProps) {
  const { say } = useWords();
  const [menu, setMenu] = useState<{ left: number; top: number } | null>(null);
  const renaming = useView((state) => state.renaming === row.id);
  const fresh = useList((state) => state.titled === row.id);
  const title = row.title ? shownLine(row.title) : say("untitled");
  return (
    <div className="row conv" aria-current={current ? "page" : undefined}>
      {renaming ? (
        <Rename row={row} />
      ) : (
        <a href={pathOf(row.id)} data-row={row.id} tabIndex={stop ? 0 : -1} onFocus={() => onStop(row.id)} onClick={visit} onDoubleClick={() => renameRow(row.id)} title={title}>
          <Dot row={row} current={current} />
          <span key={title} className={fresh ? "t new-title" : "t"}>
            {title}
          </span>
        </a>
      )}
      <button
        type="button"
        className="icon more"
        tabIndex={-1}
        aria-label={`${say("more")}: ${title}`}
        aria-haspopup="menu"
        aria-expanded={menu !== null}
        onClick={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          const left = Math.min(box.left, innerWidth - 160);
          setMenu(menu ? null : { left, top: box.bottom + 84 > innerHeight ? box.top - 84 : box.bottom + 2 });
        }}
      >
        <Icon name="dots" />
      </button>
      <Suspense>{menu ? <ConversationMenu id={row.id} className="small" style={{ position: "fixed", ...menu }} onClose={() => setMenu(null)} /> : null}</Suspense>
    </div>
  );
});

function Dot({ row, current }: { row: Conversation; current: boolean }) {
  const { say } = useWords();
  const lost = useConnection((state) => current && state.lost !== null);
  if (row.status === "interrupted")
    return (
      <span className="dot waits" role="img" aria-label={say("statusWaits")}>
        <Bars />
      </span>
    );
  if (row.status === "running") return <span className={lost ? "dot lost" : "dot running"} role="img" aria-label={say("statusRunning")} />;
  return <span className="dot" />;
}

/** The link of a row that was renamed takes the focus again. */
function focusRowOf(id: string): void {
  setTimeout(() => document.querySelector<HTMLElement>(`[data-row="${id}"]`)?.focus({ preventScroll: true }), 0);
}

/** The title becomes a field in its place: ↵ keeps the new one, Esc the old one. It stays until the server has the new one. */
function Rename({ row }: { row: Conversation }) {
  const words = useWords();
  const { say } = words;
  const [title, setTitle] = useState(row.title ?? "");
  const [fault, setFault] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const why = useId();
  const busy = useRef(false);
  useEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, []);
  const end = (back: boolean): void => {
    // The person may be elsewhere by now.
    if (useView.getState().renaming === row.id) renameRow(null);
    if (back && document.activeElement === field.current) focusRowOf(row.id);
  };
  const keep = async (back: boolean): Promise<void> => {
    if (busy.current) return;
    const wanted = title.trim();
    if (!wanted || wanted === row.title) return end(back);
    busy.current = true;
    setFault("");
    try {
      await renameConversation(row.id, wanted);
      end(back);
    } catch (error) {
      const silent = !(error instanceof ApiError) || error.unreachable;
      setFault(silent ? say("undone") : say("notSaved", refusalText(error, words)));
    } finally {
      busy.current = false;
    }
  };
  const arrived = fault !== "" && row.title === title.trim();
  useEffect(() => {
    // It was taken without a response, and the feed tells.
    if (arrived && useView.getState().renaming === row.id) renameRow(null);
  }, [arrived, row.id]);
  return (
    <>
      <input
        ref={field}
        className="input rename"
        aria-label={say("rename")}
        aria-describedby={fault ? why : undefined}
        aria-invalid={fault ? true : undefined}
        value={title}
        maxLength={200}
        onChange={(event) => setTitle(event.target.value)}
        // What was not taken waits for ↵ or Esc.
        onBlur={() => (fault ? undefined : void keep(false))}
        onKeyDown={(event) => {
          event.stopPropagation();
          if (event.nativeEvent.isComposing) return;
          if (event.key === "Enter") void keep(true);
          if (event.key === "Escape") end(true);
        }}
      />
      {fault ? (
        <p id={why} className="fault" role="alert">
          {fault}
        </p>
      ) : null}
    </>
  );
}
