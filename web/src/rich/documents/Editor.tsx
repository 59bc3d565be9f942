import { useEffect, useId, useRef, useState, type KeyboardEvent } from "react";

import { command, keyName } from "../../page/keys";
import { useWords } from "../../words/words";

/** What a person wrote and did not save: their text, and the version with which they began. */
export interface DocumentDraft {
  text: string;
  base: number;
}

export interface EditorProps {
  title: string;
  /** Where the person begins: a draft that was kept, or the version that is shown. */
  begin: DocumentDraft;
  /** The content of the version that is shown, and its number. With the newest one there is nothing to save. */
  saved: string;
  shown: number;
  /** The newest version, which may have come while the person wrote. */
  newest: number;
  onKeep: (draft: DocumentDraft | null) => void;
  /** Gives "outdated" if another version than `base` is the newest one; throws what the person must know. */
  onSave: (draft: DocumentDraft) => Promise<"saved" | "outdated">;
  /** Shows what came meanwhile. The draft is kept. */
  onCompare: (base: number) => void;
  onEnd: () => void;
}

/** The source of a document, to be edited and saved as a version of its own. */
export function Editor({ title, begin, saved, shown, newest, onKeep, onSave, onCompare, onEnd }: EditorProps) {
  const { say } = useWords();
  const field = useRef<HTMLTextAreaElement>(null);
  const notice = useId();
  const [text, setText] = useState(begin.text);
  const [base, setBase] = useState(begin.base);
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const [refused, setRefused] = useState(false);
  const outdated = newest > base || refused;
  const [older] = useState(shown < newest);
  const changed = text !== saved || older;

  useEffect(() => {
    field.current?.focus();
    field.current?.setSelectionRange(0, 0);
  }, []);

  const write = (typed: string): void => {
    // A field has its own line breaks: the document keeps those that it had.
    const value = saved.includes("\r\n") ? typed.replace(/\n/g, "\r\n") : typed;
    setText(value);
    onKeep(value === saved && base === newest && !older ? null : { text: value, base });
  };
  const save = async (on: number): Promise<void> => {
    if (busy || !changed) return;
    setBusy(true);
    setFault(null);
    try {
      if ((await onSave({ text, base: on })) === "outdated") {
        setRefused(true);
        setBusy(false);
      }
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
      setBusy(false);
    }
  };
  /** The person has seen that there is a newer version, and saves theirs after it. */
  const saveAfter = (): void => {
    setBase(newest);
    setRefused(false);
    void save(newest);
  };
  const discard = (): void => {
    onKeep(null);
    onEnd();
  };
  const pressed = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Escape") onEnd();
    else if (command(event) && !event.shiftKey && (event.key === "Enter" || event.key.toLowerCase() === "s")) {
      if (!outdated) void save(base);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    // The keys of the form belong to all of its fields.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <form
      className="editor"
      aria-label={say("editDocument", title)}
      onKeyDown={pressed}
      onSubmit={(event) => {
        event.preventDefault();
        if (!outdated) void save(base);
      }}
    >
      <textarea
        ref={field}
        className="input source"
        aria-label={say("editDocument", title)}
        aria-describedby={notice}
        spellCheck={false}
        value={text}
        readOnly={busy}
        onChange={(event) => write(event.target.value)}
      />
      <div id={notice} role="status">
        {older && !outdated ? <p className="quiet">{say("olderEdited", shown, newest)}</p> : null}
        {outdated ? <p className="warn">{say("documentMoved", Math.max(newest, base + 1), base)}</p> : null}
        {fault === null ? null : <p className="warn">{fault}</p>}
      </div>
      <footer>
        {outdated ? (
          <>
            <button type="button" className="btn" onClick={() => onCompare(base)}>
              {say("seeChanges")}
            </button>
            <button type="button" className="btn primary" disabled={busy || !changed || newest <= base} onClick={saveAfter}>
              {say("saveAfter", newest + 1)}
            </button>
          </>
        ) : (
          <button type="submit" className="btn primary" disabled={busy || !changed}>
            <span>{say("saveVersion", newest + 1)}</span>
            <kbd aria-hidden="true">{keyName("⌘", "↵")}</kbd>
          </button>
        )}
        <button type="button" className="btn bare" disabled={busy} onClick={onEnd}>
          {say("cancel")}
        </button>
        {changed ? (
          <button type="button" className="btn bare" disabled={busy} onClick={discard}>
            {say("discardDraft")}
          </button>
        ) : null}
        <span className="grow" />
        <span className="quiet">{say("draftKept")}</span>
      </footer>
    </form>
  );
}
