import { useEffect, useLayoutEffect, useRef, useState } from "react";

import { isLive } from "../log/turn";
import { clearFault, sendInstead } from "../state/doing";
import { dropInstead, dropSent, editOf, keepInstead, writtenInstead } from "../state/sent";
import { useThread, type Entry } from "../state/thread";
import { editTurn } from "../state/view";
import { useWords } from "../words/words";
import { Bubble } from "./Bubble";
import { Copy } from "./Copy";
import { grow } from "./grow";
import { Hop } from "./Hop";
import { Icon } from "./Icon";

/** What the person said. */
export function Said({ entry, editing, versions, last }: { entry: Entry; editing: boolean; versions: readonly string[]; last: boolean }) {
  const { say } = useWords();
  const { content, id } = entry.turn;
  if (editing) return <Editing entry={entry} />;
  return (
    <div className="said">
      <Bubble text={content} />
      <div className={versions.length > 1 || last ? "acts on" : "acts"}>
        <Hop versions={versions} current={id} />
        <Copy text={content} />
        <button type="button" className="icon" aria-label={say("edit")} title={say("edit")} onClick={() => editTurn(id)} disabled={isLive(entry.log.status) && entry.log.status !== "waiting"}>
          <Icon name="pen" />
        </button>
      </div>
    </div>
  );
}

function Editing({ entry }: { entry: Entry }) {
  const { say } = useWords();
  const [text, setText] = useState(() => writtenInstead(entry) ?? entry.turn.content);
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    const field = area.current;
    field?.focus();
    field?.setSelectionRange(field.value.length, field.value.length);
  }, []);
  useLayoutEffect(() => grow(area.current), [text]);
  const submit = async (): Promise<void> => {
    if (!text.trim()) return;
    editTurn(null);
    const taken = await sendInstead(entry, text);
    if (taken) dropInstead(entry);
    else if (useThread.getState().id === entry.turn.conversation_id) editTurn(entry.turn.id);
  };
  const cancel = (): void => {
    dropSent(editOf(entry.turn.conversation_id));
    dropInstead(entry);
    clearFault();
    editTurn(null);
  };
  return (
    <div className="said">
      <div className="editbox">
        <textarea
          ref={area}
          rows={2}
          aria-label={say("edit")}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            keepInstead(entry, event.target.value);
            clearFault();
          }}
          onKeyDown={(event) => {
            if (event.nativeEvent.isComposing) return;
            if (event.key === "Escape") {
              event.stopPropagation();
              cancel();
            }
            if (event.key === "Enter" && !event.shiftKey) {
              event.preventDefault();
              if (!event.repeat) void submit();
            }
          }}
        />
        <footer>
          <Icon name="agent" small />
          <span>{say("editNote")}</span>
          <span className="grow" />
          <button type="button" className="btn bare tight" onClick={cancel}>
            {say("cancel")}
          </button>
          <button type="button" className="btn primary tight" disabled={!text.trim()} onClick={() => void submit()}>
            {say("sendBranch")}
          </button>
        </footer>
      </div>
    </div>
  );
}
