import { memo, useEffect, useRef, useState } from "react";

import { drawn } from "../log/shown";
import { useWords } from "../words/words";
import { Icon } from "./Icon";

/** The reasoning of a model: one line, open when it is wanted. */
export const Thinking = memo(function Thinking({ text, live }: { text: string; live: boolean }) {
  const { say } = useWords();
  const [open, setOpen] = useState(false);
  const seconds = useSeconds(live);
  const title = live ? say("thinking") : seconds ? say("thought", seconds) : say("thoughtPlain");
  return (
    <details className={live ? "think live" : "think"} open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span>{title}</span>
        <Icon name="right" small />
      </summary>
      {open ? <div className="lines-kept">{drawn(text.trim())}</div> : null}
    </details>
  );
});

/** How long it thought, if this page saw it think. */
function useSeconds(live: boolean): number | null {
  const began = useRef<number | null>(null);
  const [seconds, setSeconds] = useState<number | null>(null);
  useEffect(() => {
    if (live) began.current ??= Date.now();
    else if (began.current !== null) setSeconds(Math.max(1, Math.round((Date.now() - began.current) / 1000)));
  }, [live]);
  return seconds;
}
