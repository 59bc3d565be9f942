import { useEffect, useRef, useState, type KeyboardEvent } from "react";

import type { ArtifactVersion } from "../../api/types";
import { useWords } from "../../words/words";

interface TrackProps {
  versions: readonly ArtifactVersion[];
  on: number;
  /** The version that is compared with, if there is one. */
  from: number | null;
  /** The number of the version that is being written. */
  writing: number | null;
  onChoose: (version: number) => void;
}

/** So many versions are drawn at first. */
const SHOWN = 60;
const DONE = { create: "created", update: "updated", update_fuzzy: "updated", rewrite: "rewritten" } as const;

/** The versions on a line, oldest first. */
export function Track({ versions, on, from, writing, onChoose }: TrackProps) {
  const { say, clock } = useWords();
  const line = useRef<HTMLDivElement>(null);
  const [most, setMost] = useState(SHOWN);
  const first = Math.max(0, Math.min(versions.length - most, versions.findIndex((item) => item.version === on)));
  const shown = versions.slice(first);
  const numbers = [...shown.map((item) => item.version), ...(writing === null ? [] : [writing])];
  useEffect(() => {
    const box = line.current;
    const chosen = box?.querySelector<HTMLElement>('[aria-checked="true"]');
    // Not scrollIntoView: that would move the page, too.
    if (box && chosen) box.scrollLeft = chosen.offsetLeft - box.clientWidth / 2;
  }, [on, versions.length]);
  const move = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    const place = numbers.indexOf(on);
    const next = event.key === "Home" ? numbers[0] : event.key === "End" ? numbers.at(-1) : step === undefined ? undefined : numbers[place + step];
    if (next === undefined) return;
    event.preventDefault();
    onChoose(next);
    line.current?.querySelector<HTMLElement>(`[data-version="${next}"]`)?.focus();
  };
  const button = (version: number, what: string, at: number | null) => (
    <button
      key={version}
      type="button"
      role="radio"
      data-version={version}
      aria-checked={version === on}
      tabIndex={version === on ? 0 : -1}
      className={classes(version, on, from, writing)}
      onClick={() => onChoose(version)}
    >
      <b>v{version}</b>
      <span>{what}</span>
      <br />
      <small>{at === null ? " " : clock(at)}</small>
    </button>
  );
  return (
    // oxlint-disable-next-line jsx-a11y/interactive-supports-focus
    <div className="track" role="radiogroup" aria-label={say("versions")} ref={line} onKeyDown={move}>
      {first > 0 ? (
        <button type="button" className="earlier" onClick={() => setMost(most + SHOWN)}>
          <b>…</b>
          <span>{say("olderVersion")}</span>
        </button>
      ) : null}
      {shown.map((item) => button(item.version, item.turn_id === null ? say("byYou") : say(DONE[item.update_type as keyof typeof DONE] ?? "updated"), item.created_at))}
      {writing === null ? null : button(writing, say("now"), null)}
    </div>
  );
}

function classes(version: number, on: number, from: number | null, writing: number | null): string {
  const names = [version === on ? "on" : "", version === from ? "from" : "", version === writing ? "writing" : ""];
  if (from !== null && version > from && version < on) names.push("between");
  return names.filter(Boolean).join(" ");
}
