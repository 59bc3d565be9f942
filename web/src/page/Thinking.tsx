import { memo, useState } from "react";

import { AsIs } from "../rich/AsIs";
import { useWords } from "../words/words";
import { Icon } from "./Icon";

/** The reasoning of a model: one line, open when it is wanted. */
export const Thinking = memo(function Thinking({ text, live }: { text: string; live: boolean }) {
  const { say } = useWords();
  const [open, setOpen] = useState(false);
  return (
    <details className={live ? "think live" : "think"} open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span>{say(live ? "thinking" : "thoughtPlain")}</span>
        <Icon name="right" small />
      </summary>
      {open ? <div className="lines-kept"><AsIs text={text.trim()} /></div> : null}
    </details>
  );
});
