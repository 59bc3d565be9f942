import { useEffect, useRef } from "react";

import { serverNow } from "../../api/clock";
import { announce } from "../../state/announce";
import { useWords } from "../../words/words";
import { minutes, useNow } from "../useNow";

/** A quiet clock: it matters only near its end. */
export function TimeLeft({ until, since, title }: { until: number | null; since: number | null; title: string }) {
  const { say } = useWords();
  const now = useNow(until !== null);
  const first = useRef(serverNow());
  const left = until === null ? 0 : until - now;
  const soon = until !== null && left <= 60_000 && left > 0;
  const told = useRef(soon);
  useEffect(() => {
    if (soon && !told.current) announce(say("oneMinute", title));
    if (soon) told.current = true;
  }, [soon, say, title]);
  if (until === null || left > 48 * 3_600_000) return null;
  const whole = Math.max(1, until - (since ?? first.current));
  const part = Math.max(0, Math.min(100, (left / whole) * 100));
  return (
    <span className="left">
      <svg viewBox="0 0 14 14" aria-hidden="true">
        <circle className="all" cx="7" cy="7" r="5.25" />
        <circle className="now" cx="7" cy="7" r="5.25" pathLength="100" strokeDasharray={`${part.toFixed(1)} 100`} />
      </svg>
      <span>{left > 0 ? say("timeLeft", minutes(left)) : say("expired")}</span>
    </span>
  );
}
