import { useLayoutEffect, useRef } from "react";

import type { Interrupt } from "../../api/types";
import { shown } from "../../log/shown";
import { useWords } from "../../words/words";

/** What an agent wants to have confirmed: the end of the words in which it asks, with the sentence that asks last. */
export function Asking({ interrupt }: { interrupt: Interrupt }) {
  const { say } = useWords();
  const box = useRef<HTMLDivElement>(null);
  const text = interrupt.context?.trim() || interrupt.reason;
  // The end says what is asked.
  useLayoutEffect(() => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [text]);
  if (!text) return null;
  return (
    // A long one scrolls, also by the keyboard.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div ref={box} className="asking plain lines-kept" tabIndex={0} role="group" aria-label={say("confirmAbout")}>
      {shown(text)}
    </div>
  );
}
