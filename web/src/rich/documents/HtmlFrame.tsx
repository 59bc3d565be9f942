import { useCallback, useEffect, useRef, useState } from "react";

import { useWords } from "../../words/words";
import { Code } from "../code/Code";
import { useQuiet } from "./quiet";
import { useHeldFocus } from "./useHeldFocus";

type Phase = "offered" | "shown" | "paused";

/** A document of an agent. Its source comes first: its code runs when the person wants it. */
export function HtmlPreview({ html, title }: { html: string; title: string }) {
  const { say } = useWords();
  const quiet = useQuiet();
  const [phase, setPhase] = useState<Phase>("offered");
  const pause = useCallback(() => setPhase("paused"), []);
  if (phase === "shown") return quiet ? <div className="framing" /> : <HtmlFrame html={html} title={title} onGrab={pause} />;
  return (
    <>
      <div className="offer" role={phase === "paused" ? "alert" : undefined}>
        <p>{say(phase === "paused" ? "previewGrabs" : "previewOffer")}</p>
        <button type="button" className="btn tight" onClick={() => setPhase("shown")}>
          {say(phase === "paused" ? "previewAgain" : "showPreview")}
        </button>
      </div>
      <Code text={html} language="html" bare />
    </>
  );
}

interface HtmlFrameProps {
  html: string;
  title: string;
  /** The document took the focus again and again. */
  onGrab: () => void;
}

/** The document in a frame without an origin. The server gives the frame a policy that allows no network. */
function HtmlFrame({ html, title, onGrab }: HtmlFrameProps) {
  const { say } = useWords();
  const frame = useRef<HTMLIFrameElement>(null);
  const sent = useRef(false);
  const { entered, enter } = useHeldFocus(frame, onGrab);
  useEffect(() => {
    const receive = (event: MessageEvent) => {
      // Only the first word of the frame is listened to: it is ours, what comes later is the document's.
      const inside = frame.current?.contentWindow;
      if (sent.current || !inside || event.source !== inside) return;
      sent.current = true;
      // The frame has no origin that could be named.
      inside.postMessage({ html }, "*");
    };
    addEventListener("message", receive);
    return () => removeEventListener("message", receive);
  }, [html]);
  return (
    <div className="framing">
      {entered ? null : <button type="button" className="cover" aria-label={say("enterPreview")} title={say("enterPreview")} onClick={enter} />}
      <iframe
        // A frame is reached by Tab once it was entered.
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={entered ? 0 : -1}
        ref={frame}
        className="preview"
        src="/frames/document.html"
        sandbox="allow-scripts"
        referrerPolicy="no-referrer"
        title={say("previewFrame", title)}
      />
    </div>
  );
}
