import { memo, useEffect, useLayoutEffect, useRef } from "react";

import { isLive } from "../log/turn";
import { draftOf, nameOf, setDraft, useAway, useDrafts } from "../state/drafts";
import { clearFault, send, stop } from "../state/doing";
import { useThread } from "../state/thread";
import { editTurn } from "../state/view";
import { useWords } from "../words/words";
import { AgentPicker } from "./AgentPicker";
import { grow } from "./grow";
import { Icon } from "./Icon";
import { Keep } from "./Keep";
import { TOUCH } from "./useMedia";

/** Where the person writes. */
export const Composer = memo(function Composer({ id }: { id: string | null }) {
  const { say } = useWords();
  const text = useDrafts((state) => draftOf(state, id));
  const status = useThread((state) => (state.id === id ? state.entries.at(-1)?.log.status : undefined));
  const away = useAway((state) => state[nameOf(id)] !== undefined);
  const sending = useThread((state) => state.id === id && state.sending !== null) || away;
  const stopping = useThread((state) => state.stopping);
  const area = useRef<HTMLTextAreaElement>(null);
  const running = status === "running" || status === "queued";
  const ready = text.trim() !== "" && !sending && !running;

  useLayoutEffect(() => grow(area.current), [text]);
  useEffect(() => {
    if (!matchMedia(TOUCH).matches) area.current?.focus({ preventScroll: true });
  }, [id]);

  const submit = (): void => {
    if (ready) void send(id, text);
  };

  const placeholder = status === "waiting" ? "placeholderWaiting" : id === null ? "placeholder" : "placeholderReply";
  return (
    <>
      <form
        className="composer"
        onSubmit={(event) => {
          event.preventDefault();
          if (running) void stop();
          else submit();
        }}
      >
        <label className="sr" htmlFor="box">
          {say("placeholder")}
        </label>
        <textarea
          ref={area}
          id="box"
          rows={1}
          value={text}
          placeholder={say(placeholder)}
          enterKeyHint="send"
          onChange={(event) => {
            setDraft(id, event.target.value);
            clearFault();
          }}
          onKeyDown={(event) => {
            if (event.nativeEvent.isComposing) return;
            if (event.key === "Enter" && !event.shiftKey && !event.metaKey && !event.ctrlKey && !matchMedia(TOUCH).matches) {
              event.preventDefault();
              submit();
            }
            if (event.key === "ArrowUp" && text === "") editLast();
          }}
        />
        <div className="tools-row">
          <AgentPicker id={id} />
          <span className="grow" />
          {running ? (
            <button type="submit" className="go" aria-label={say("stop")} title={say("stop")} disabled={stopping}>
              <i />
            </button>
          ) : (
            <button type="submit" className="go" aria-label={say("send")} title={say("send")} disabled={!ready}>
              <Icon name="arrow-up" />
            </button>
          )}
        </div>
      </form>
      <Keep id={id} empty={false} />
    </>
  );
});

function editLast(): void {
  const last = useThread.getState().entries.at(-1);
  if (last && (!isLive(last.log.status) || last.log.status === "waiting")) editTurn(last.turn.id);
}
