import { useEffect, useId, useRef, useState } from "react";

import { isSilent, type ApiError } from "../api/client";
import type { Conversation } from "../api/types";
import { renameConversation } from "../state/list";
import { renameRow, useView } from "../state/view";
import { refusalText } from "../words/faults";
import { useWords } from "../words/words";

/** The link of a row that was renamed takes the focus again. */
function focusRowOf(id: string): void {
  setTimeout(() => document.querySelector<HTMLElement>(`[data-row="${id}"]`)?.focus({ preventScroll: true }), 0);
}

/** The title becomes a field in its place: ↵ keeps the new one, Esc the old one. It stays until the server has the new one. */
export function Rename({ row }: { row: Conversation }) {
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
      setFault(isSilent(error) ? say("undone") : say("notSaved", refusalText(error as ApiError, words)));
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
