import { memo, useEffect, useLayoutEffect, useRef, type KeyboardEvent } from "react";

import type { Interrupt } from "../api/types";
import { isLive } from "../log/turn";
import { useAnswers } from "../state/answers";
import { draftOf, nameOf, setDraft, useAway, useDrafts } from "../state/drafts";
import { clearFault, explainBusy, explainSoon, send, stop } from "../state/doing";
import { useThread } from "../state/thread";
import { editTurn } from "../state/view";
import { useWords } from "../words/words";
import { AgentPicker } from "./AgentPicker";
import { titleOf } from "./asks/titles";
import { grow } from "./grow";
import { Icon } from "./Icon";
import { Keep } from "./Keep";
import { command, isHeld } from "./keys";
import { useLately } from "./useLately";
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
  const lately = useLately({ place: id, busy: sending || running, asked: useAsked(id) });

  useLayoutEffect(() => grow(area.current), [text]);
  useEffect(() => {
    if (!matchMedia(TOUCH).matches) area.current?.focus({ preventScroll: true });
  }, [id]);

  const submit = (): void => {
    if (ready && lately) explainSoon();
    else if (ready) void send(id, text);
    else if (running && text.trim() !== "") explainBusy();
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
        {status === "waiting" && text.trim() !== "" ? <Refuses /> : null}
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
            if (event.key === "Enter" && !event.shiftKey && (command(event) || !matchMedia(TOUCH).matches)) {
              event.preventDefault();
              if (!event.repeat) submit();
            }
            if (event.key === "ArrowUp" && text === "") editLast();
          }}
        />
        <div className="tools-row">
          <AgentPicker id={id} />
          <span className="grow" />
          {running ? (
            <button type="submit" className="go" aria-label={say("stop")} title={say("stop")} disabled={stopping} onKeyDown={pressOnce}>
              <i />
            </button>
          ) : (
            <button type="submit" className="go" aria-label={say("send")} title={say("send")} disabled={!ready} aria-disabled={ready && lately ? true : undefined} onKeyDown={pressOnce}>
              <Icon name="arrow-up" />
            </button>
          )}
        </div>
      </form>
      <Keep id={id} empty={false} />
    </>
  );
});

/** What a reply refuses, for as long as one is being written. */
function Refuses() {
  const words = useWords();
  const { say } = words;
  const pending = useThread((state) => state.entries.at(-1)?.log.pending ?? NOTHING);
  const answers = useAnswers();
  const isYes = ({ id }: Interrupt): boolean => {
    const given = answers[id];
    return given !== undefined && given.phase !== "closed" && given.decision !== "reject";
  };
  const names = (items: Interrupt[]): string => [...new Set(items.map((item) => titleOf(item, words)))].join(" · ");
  const open = pending.filter((item) => !answers[item.id]);
  const given = pending.filter(isYes);
  return (
    <p className="refuses" role="status">
      {open.length > 0 ? <span>{say("replyRefuses", names(open))}</span> : null}
      {given.length > 0 ? <span>{say("replyUndoes", names(given))}</span> : null}
    </p>
  );
}

const NOTHING: Interrupt[] = [];

/** The questions that wait in this conversation, as words: one that was answered is another word. */
function useAsked(id: string | null): string {
  const pending = useThread((state) => (state.id === id ? state.entries.at(-1)?.log.pending : undefined)) ?? NOTHING;
  const answers = useAnswers();
  return pending.map((item) => (answers[item.id] ? `${item.id}!` : item.id)).join(" ");
}

/** Stop turns into Send: the same key must not press both. */
function pressOnce(event: KeyboardEvent): void {
  if (isHeld(event)) event.preventDefault();
}

function editLast(): void {
  const last = useThread.getState().entries.at(-1);
  if (last && (!isLive(last.log.status) || last.log.status === "waiting")) editTurn(last.turn.id);
}
