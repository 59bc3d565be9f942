import { useEffect, useRef, useState } from "react";

import type { Asked } from "../api/types";
import { shownLine } from "../log/shown";
import { noteChosen, useAnswers } from "../state/answers";
import { learnTitle, loadInbox, loadMoreInbox, useInbox } from "../state/inbox";
import { useList } from "../state/list";
import { pathOf } from "../state/route";
import { useWords } from "../words/words";
import { AskForm } from "./asks/Ask";
import { askKeys } from "./asks/askKeys";
import { TimeLeft } from "./asks/TimeLeft";
import { titleOf } from "./asks/titles";
import { SettledContext, useSettled } from "./asks/useSettled";
import { Bars, Icon } from "./Icon";
import { KeepConnection } from "./Keep";
import { Missing } from "./Opening";
import { visit } from "./Sidebar";
import { mainArgument } from "./tools";
import { useNow } from "./useNow";

/** What waits for the person, over all conversations. */
export function Inbox() {
  const { say } = useWords();
  const { items, phase, next } = useInbox();
  const answers = useAnswers();
  const [open, setOpen] = useState<string | null>(null);
  useEffect(() => {
    void loadInbox();
  }, []);
  const waiting = items.filter((item) => answers[item.id]?.phase !== "given" && answers[item.id]?.phase !== "closed");
  // When what was open is answered, the next one opens. "" means that the person has folded all.
  const unfolded = open === "" || waiting.some((item) => item.id === open) ? open : (waiting[0]?.id ?? null);
  if (phase === "failed")
    return (
      <Frame>
        <Missing text={say("inboxOpenFailed")} again={() => void loadInbox()} />
      </Frame>
    );
  if (phase === "ready" && waiting.length === 0)
    return (
      <Frame>
        <div className="nothing">
          <span className="bars" aria-hidden="true" />
          <h2 tabIndex={-1} data-home>
            {say("inboxEmpty")}
          </h2>
          <p>{say("inboxEmptyText")}</p>
        </div>
      </Frame>
    );
  return (
    <Frame>
      <div className="page-head">
        <p>{say("inboxLead")}</p>
      </div>
      {waiting.length > 0 ? (
        <div className="inbox-list">
          {waiting.map((item) => (
            <Item key={item.id} item={item} open={item.id === unfolded} onOpen={(wanted) => setOpen(wanted ? item.id : "")} />
          ))}
        </div>
      ) : null}
      {next ? (
        <p className="older">
          <button type="button" className="btn bare tight" onClick={() => void loadMoreInbox().catch(() => undefined)}>
            {say("more")}
          </button>
        </p>
      ) : null}
    </Frame>
  );
}

function Frame({ children }: { children: React.ReactNode }) {
  return (
    <div className="scroll" tabIndex={-1} id="scroll">
      <div className="col">{children}</div>
      <div className="dock veil">
        <div className="col">
          <KeepConnection />
        </div>
      </div>
    </div>
  );
}

function Item({ item, open, onOpen }: { item: Asked; open: boolean; onOpen: (open: boolean) => void }) {
  const words = useWords();
  const { say, span } = words;
  const now = useNow(true, 10_000);
  const listed = useList((state) => state.rows[item.conversation_id]?.title);
  const learned = useInbox((state) => state.titles[item.conversation_id]);
  const known = useList((state) => item.conversation_id in state.rows);
  const card = useRef<HTMLDetailsElement>(null);
  const settled = useSettled(card, open);
  useEffect(() => {
    if (!known) void learnTitle(item.conversation_id);
  }, [known, item.conversation_id]);
  const title = titleOf(item, words);
  const main = item.kind === "approval" && !open ? mainArgument(item.name ?? "", item.args) : "";
  const where = shownLine(listed ?? learned ?? "") || say("untitled");
  const facts = [where, item.kind === "questions" ? "" : shownLine(item.agent), say("waitingFor", coarse(now - item.created_at, span))].filter(Boolean);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <details ref={card} open={open} data-ask={open ? item.id : undefined} tabIndex={-1} onKeyDown={askKeys} onInput={() => noteChosen(item.id)}>
      <summary
        onClick={(event) => {
          event.preventDefault();
          onOpen(!open);
        }}
      >
        <Picture kind={item.kind} />
        <span>
          <span className="a">
            <span>{title}</span>
            {main ? <code>{main}</code> : null}
          </span>
          <span className="b">{facts.join(" · ")}</span>
        </span>
        <span className="z">
          <TimeLeft until={item.expires_at ?? null} since={item.created_at} title={title} />
          <span className="btn tight review" aria-hidden="true">
            {say("review")}
          </span>
        </span>
      </summary>
      {open ? (
        <div className="body">
          <SettledContext value={settled}>
            <AskForm
              interrupt={item}
              place="inbox"
              more={
                <a href={pathOf(item.conversation_id)} onClick={visit}>
                  {say("openConversation")}
                </a>
              }
            />
          </SettledContext>
        </div>
      ) : null}
    </details>
  );
}

function Picture({ kind }: { kind: Asked["kind"] }) {
  if (kind === "approval") return <Bars className="inset-left" />;
  return <Icon name={kind === "questions" ? "ask" : kind === "confirmation" ? "check" : "agent"} />;
}

/** Waiting times need no seconds after the first minute. */
function coarse(ms: number, span: (ms: number) => string): string {
  const seconds = Math.max(1000, Math.floor(ms / 1000) * 1000);
  return span(seconds < 60_000 ? seconds : Math.floor(seconds / 60_000) * 60_000);
}
