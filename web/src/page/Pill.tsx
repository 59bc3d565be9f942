import { useEffect, useState, type RefObject } from "react";

import type { Interrupt } from "../api/types";
import { useWords } from "../words/words";
import { titleOf } from "./asks/titles";
import { Bars, Icon } from "./Icon";
import { Latest } from "./Conversation";

interface PillProps {
  atEnd: boolean;
  pending: Interrupt[];
  scroller: RefObject<HTMLDivElement | null>;
  toEnd: () => void;
}

/** The way back to the end; gold when something waits out of sight. */
export function Pill({ atEnd, pending, scroller, toEnd }: PillProps) {
  const words = useWords();
  const hidden = useHidden(scroller, pending.length);
  const [first] = pending;
  const waits = first !== undefined && hidden;
  if (waits) {
    const title = pending.length === 1 ? titleOf(first, words) : words.say("severalTitle", pending.length);
    return (
      <div className="pill waits">
        <button type="button" onClick={toEnd}>
          <Bars />
          {pending.length === 1 ? words.say("waitsPill", title) : title}
          <Icon name="arrow-down" small />
        </button>
      </div>
    );
  }
  if (atEnd) return null;
  return (
    <div className="pill">
      <Latest onClick={toEnd} />
    </div>
  );
}

/** Whether the question is out of sight. */
function useHidden(scroller: RefObject<HTMLDivElement | null>, pending: number): boolean {
  const [hidden, setHidden] = useState(false);
  useEffect(() => {
    const box = scroller.current;
    if (!box || pending === 0) {
      setHidden(false);
      return;
    }
    const look = (): void => {
      const card = box.querySelector("[data-card]")?.getBoundingClientRect();
      const dock = box.querySelector(".dock")?.getBoundingClientRect();
      setHidden(card !== undefined && dock !== undefined && (card.top > dock.top - 60 || card.bottom < box.getBoundingClientRect().top + 60));
    };
    look();
    const watcher = new ResizeObserver(look);
    watcher.observe(box);
    box.addEventListener("scroll", look, { passive: true });
    return () => {
      watcher.disconnect();
      box.removeEventListener("scroll", look);
    };
  }, [scroller, pending]);
  return hidden;
}
