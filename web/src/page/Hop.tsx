import type { MouseEvent } from "react";

import { switchTo } from "../state/doing";
import { useWords } from "../words/words";
import { Icon } from "./Icon";

/** ‹ 2/3 ›: other versions of the same place. */
export function Hop({ versions, current }: { versions: readonly string[]; current: string }) {
  const { say } = useWords();
  const at = versions.indexOf(current);
  if (at < 0 || versions.length < 2) return null;
  const step = async (event: MouseEvent<HTMLElement>, by: number): Promise<void> => {
    const next = versions[at + by];
    if (!next) return;
    const place = event.currentTarget.closest(".said") ? ".said" : ".turn";
    await switchTo(next);
    // The other version has its own buttons.
    setTimeout(() => document.querySelector<HTMLElement>(`[data-turn="${next}"] ${place} [data-step="${by}"]`)?.focus({ preventScroll: true }), 0);
  };
  return (
    <span className="hop" role="group" aria-label={say("branchOf", at + 1, versions.length)}>
      <button type="button" data-step={-1} aria-disabled={at === 0 || undefined} aria-label={say("older")} title={say("older")} onClick={(event) => void step(event, -1)}>
        <Icon name="left" small />
      </button>
      {at + 1}/{versions.length}
      <button type="button" data-step={1} aria-disabled={at === versions.length - 1 || undefined} aria-label={say("newer")} title={say("newer")} onClick={(event) => void step(event, 1)}>
        <Icon name="right" small />
      </button>
    </span>
  );
}
