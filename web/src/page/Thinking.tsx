import { memo, useState } from "react";

import { AsIs } from "../rich/AsIs";
import { useWords } from "../words/words";
import { Icon } from "./Icon";

/** The reasoning of a model: one line, open when it is wanted. */
export const Thinking = memo(function Thinking({ text, live, ms }: { text: string; live: boolean; ms: number | null }) {
  const { say, span } = useWords();
  const title = ms === null ? say("thoughtPlain") : say("thoughtFor", span(Math.max(1, Math.round(ms / 1000)) * 1000));
  const [open, setOpen] = useState(false);
  return (
    <details className={live ? "think live" : "think"} open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span>{live ? say("thinking") : title}</span>
        <Icon name="right" small />
      </summary>
      {open ? <div className="lines-kept"><AsIs text={text.trim()} /></div> : null}
    </details>
  );
});
