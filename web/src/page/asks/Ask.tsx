import { useEffect, useId, useRef, useState, type ReactNode } from "react";

import "../../styles/asks.css";
import type { Interrupt } from "../../api/types";
import { announce } from "../../state/announce";
import { noteChosen, useAnswers, type Given } from "../../state/answers";
import { putAside, useView } from "../../state/view";
import { useWords, type Key } from "../../words/words";
import { Bars, Icon } from "../Icon";
import { mainArgument, toolWords } from "../tools";
import { Approval } from "./Approval";
import { askKeys } from "./askKeys";
import { ClosedCard } from "./ClosedCard";
import { Confirmation } from "./Confirmation";
import { Graph } from "./Graph";
import type { Place } from "./parts";
import { Questions } from "./Questions";
import { TimeLeft } from "./TimeLeft";
import { titleOf } from "./titles";
import { SettledContext, useSettled } from "./useSettled";

/** What is asked, by its kind. */
export function AskForm({ interrupt, place, more }: { interrupt: Interrupt; place: Place; more?: ReactNode }) {
  switch (interrupt.kind) {
    case "approval":
      return <Approval interrupt={interrupt} place={place} more={more} />;
    case "questions":
      return <Questions interrupt={interrupt} place={place} more={more} />;
    case "confirmation":
      return <Confirmation interrupt={interrupt} place={place} more={more} />;
    case "graph":
      return <Graph interrupt={interrupt} place={place} more={more} />;
  }
}

interface AskProps {
  interrupts: Interrupt[];
  /** When each of them was asked, where that is known. */
  asked: Record<string, number>;
}

/** What waits for the person in a turn. */
export function Ask({ interrupts, asked }: AskProps) {
  const words = useWords();
  const [first] = interrupts;
  const ids = interrupts.map((item) => item.id).join(" ");
  const aside = useView((state) => interrupts.every((item) => state.aside.has(item.id)));
  const { say } = words;
  const title = !first ? "" : interrupts.length === 1 ? titleOf(first, words) : say("severalTitle", interrupts.length);
  useEffect(() => {
    if (title) announce(say("waitsPill", title));
  }, [title, ids, say]);
  if (!first) return null;
  return (
    <>
      {aside ? null : <button type="button" className="sheet-scrim" aria-label={say("minimise")} onClick={() => putAside(ids.split(" "), true)} />}
      {interrupts.length === 1 ? (
        <Single key={first.id} interrupt={first} since={asked[first.id] ?? null} sheet={!aside} />
      ) : (
        <Stack interrupts={interrupts} asked={asked} sheet={!aside} />
      )}
    </>
  );
}

function Single({ interrupt, since, sheet }: { interrupt: Interrupt; since: number | null; sheet: boolean }) {
  const words = useWords();
  const title = titleOf(interrupt, words);
  const heading = useId();
  const given = useAnswers((state) => state[interrupt.id]);
  const card = useRef<HTMLElement>(null);
  const settled = useSettled(card, true);
  if (given?.phase === "elsewhere") return <ClosedCard id={interrupt.id} interrupt={interrupt} expired={false} decision={given.decision} at={given.at} />;
  if (given?.phase === "closed") return <ClosedCard id={interrupt.id} interrupt={interrupt} expired={given.outcome === "expired"} gone={given.outcome !== "expired"} decision={null} at={given.at} />;
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <section
      ref={card}
      className={sheet ? "ask sheet" : "ask"}
      role="group"
      aria-labelledby={heading}
      // The question itself takes the keys E, R and 1–9.
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      data-ask={given ? undefined : interrupt.id}
      data-card
      onKeyDown={askKeys}
      onInput={() => noteChosen(interrupt.id)}
    >
      <span className="at">
        <Bars />
      </span>
      <header>
        <h2 id={heading}>{title}</h2>
        <span className="grow" />
        <TimeLeft until={interrupt.expires_at ?? null} since={since} title={title} />
      </header>
      <SettledContext value={settled}>
        <AskForm interrupt={interrupt} place="card" />
      </SettledContext>
    </section>
  );
}

function Stack({ interrupts, asked, sheet }: { interrupts: Interrupt[]; asked: Record<string, number>; sheet: boolean }) {
  const words = useWords();
  const { say } = words;
  const heading = useId();
  const answers = useAnswers();
  const open = interrupts.filter((item) => !answers[item.id]);
  const until = Math.min(...interrupts.map((item) => item.expires_at ?? Infinity));
  const title = open.length === 1 ? say("severalLast") : say("severalTitle", open.length);
  return (
    <section className={sheet ? "ask stack sheet" : "ask stack"} role="group" aria-labelledby={heading} data-card>
      <span className="at">
        <Bars />
      </span>
      <div className="top">
        <h2 id={heading}>{title}</h2>
        <span className="grow" />
        <TimeLeft until={Number.isFinite(until) ? until : null} since={asked[interrupts[0]?.id ?? ""] ?? null} title={title} />
      </div>
      <div className="pile">
        {interrupts.map((item, index) => (
          <One key={item.id} interrupt={item} number={index + 1} given={answers[item.id]} first={item.id === open[0]?.id} />
        ))}
      </div>
    </section>
  );
}

/** What became of one of several questions. */
function wordFor(given: Given): Key {
  if (given.phase === "closed") return given.outcome === "expired" ? "expired" : "closedElsewhere";
  switch (given.decision) {
    case "approve":
    case "edit":
      return "approvedByYou";
    case "reject":
      return "refused";
    default:
      return "respondedWord";
  }
}

/** One of several questions. The first that is open is unfolded. */
function One({ interrupt, number, given, first }: { interrupt: Interrupt; number: number; given: Given | undefined; first: boolean }) {
  const words = useWords();
  const { say } = words;
  const card = useRef<HTMLDetailsElement>(null);
  const title = titleOf(interrupt, words);
  const main = interrupt.kind === "approval" ? mainArgument(interrupt.name ?? "", interrupt.args) : "";
  const [open, setOpen] = useState(first);
  const settled = useSettled(card, open);
  useEffect(() => {
    if (first) setOpen(true);
  }, [first]);
  if (given) {
    const tool = interrupt.kind === "approval" ? toolWords(interrupt.name ?? "") : null;
    const no = given.phase === "closed" || given.decision === "reject";
    const word = given.phase === "sending" ? "keepSending" : wordFor(given);
    return (
      <div className="answered-row">
        <span className="nth done" aria-hidden={given.phase === "sending"}>
          <Icon name={given.phase === "sending" ? "arrow-up" : no ? "refused" : "check"} small />
        </span>
        <span className="what">{tool ? say(tool) : title}</span>
        <span className="on exact">{main}</span>
        <span className="grow" />
        {given.phase === "sending" ? null : <span className="quiet hide-phone">{say("waitsForRest")}</span>}
        <span className={no || given.phase === "sending" ? "quiet" : "plus"}>{say(word)}</span>
      </div>
    );
  }
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <details ref={card} open={open} onToggle={(event) => setOpen(event.currentTarget.open)} data-ask={interrupt.id} onKeyDown={askKeys} onInput={() => noteChosen(interrupt.id)} tabIndex={-1}>
      <summary>
        <span className="nth">{number}</span>
        <span className="what">{title}</span>
        {open ? null : <span className="on exact">{main}</span>}
        <span className="grow" />
        <span className="fold">
          <Icon name="right" small />
        </span>
      </summary>
      <SettledContext value={settled}>{open ? <AskForm interrupt={interrupt} place="stack" /> : null}</SettledContext>
    </details>
  );
}
