import { useCallback, useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";

import { useWords, type Key } from "../../words/words";
import { ROOT } from "../../api/root";
import { useQuiet } from "./quiet";
import { useHeldFocus } from "./useHeldFocus";

/** `still`: its scripts do not run. `paused`, `flooded`: it ran, and was stopped. */
type Phase = "offered" | "still" | "running" | "paused" | "flooded";

const TOLD: Record<Exclude<Phase, "running">, Key> = { offered: "previewOffer", still: "previewStill", paused: "previewGrabs", flooded: "previewFloods" };
/** What may run in a document: it has scripts, or calls them. */
const SCRIPTS = /<script|[\s"'/]on[a-z]+\s*=|javascript:/i;

/** A document of an agent. It is offered first, then it is seen without its scripts; they run when the person wants that
 * after they were told what it means. */
export function HtmlPreview({ html, title }: { html: string; title: string }) {
  const { say } = useWords();
  const quiet = useQuiet();
  const [phase, setPhase] = useState<Phase>("offered");
  const pause = useCallback(() => setPhase("paused"), []);
  // At once: what waits to be drawn waits behind thousands of messages.
  const drown = useCallback(() => flushSync(() => setPhase("flooded")), []);
  if (phase === "running") return quiet ? <div className="framing" /> : <Running html={html} title={title} onGrab={pause} onFlood={drown} onStop={() => setPhase("still")} />;
  const shown = phase === "still";
  const stopped = phase === "paused" || phase === "flooded";
  const runs = SCRIPTS.test(html);
  const offer = (
    <div className="offer" role={stopped ? "alert" : undefined}>
      <p>{say(shown && !runs ? "previewPlain" : TOLD[phase])}</p>
      {shown && !runs ? null : (
        <button type="button" className="btn tight" onClick={() => setPhase(shown ? "running" : "still")}>
          {say(shown ? "runScripts" : stopped ? "previewAgain" : "showPreview")}
        </button>
      )}
    </div>
  );
  if (shown)
    return (
      <div className="framing still">
        {offer}
        {quiet ? null : <Still html={html} title={title} />}
      </div>
    );
  return offer;
}

/** Sends the document to the frame as soon as it says that it is ready. Each message that comes later from it, or from a
 * frame that it made, is told to `onMore`. */
function useHandedOver(frame: React.RefObject<HTMLIFrameElement | null>, html: string, onMore?: (event: MessageEvent) => void): void {
  const sent = useRef(false);
  useEffect(() => {
    const receive = (event: MessageEvent) => {
      const inside = frame.current?.contentWindow;
      if (!inside) return;
      // Only the first word of the frame is listened to: it is ours, what comes later is the document's.
      if (event.source !== inside || sent.current) {
        if (event.source === inside || !isOurs(event.source)) onMore?.(event);
        return;
      }
      sent.current = true;
      // The frame has no origin that could be named.
      inside.postMessage({ html }, "*");
    };
    addEventListener("message", receive);
    return () => removeEventListener("message", receive);
  }, [frame, html, onMore]);
}

/** Whether a message comes from the page, or from a frame that the page made. A frame inside a document is not among them, and one that
 * is gone has no name. */
function isOurs(source: MessageEventSource | null): boolean {
  if (source === window) return true;
  for (const { contentWindow } of document.getElementsByTagName("iframe")) if (source !== null && source === contentWindow) return true;
  return false;
}

/** The document without its scripts. It cannot take the focus by itself, and needs no cover. */
function Still({ html, title }: { html: string; title: string }) {
  const { say } = useWords();
  const frame = useRef<HTMLIFrameElement>(null);
  useHandedOver(frame, html);
  return <iframe ref={frame} className="preview" src={`${ROOT}/frames/still.html`} sandbox="allow-scripts" referrerPolicy="no-referrer" title={say("previewFrame", title)} />;
}

/** A document that sends the page more messages and ports than this in a second is stopped: each costs the page time. */
const MESSAGES = 200;

interface RunningProps {
  html: string;
  title: string;
  /** The document took the focus again and again. */
  onGrab: () => void;
  /** The document sent too many messages. */
  onFlood: () => void;
  onStop: () => void;
}

/** The document with its scripts, in a frame without an origin and, as far as the browser can, without network. */
function Running({ html, title, onGrab, onFlood, onStop }: RunningProps) {
  const { say } = useWords();
  const frame = useRef<HTMLIFrameElement>(null);
  const heard = useRef({ since: 0, count: 0 });
  const more = useCallback(({ ports }: MessageEvent) => {
    const now = performance.now();
    if (now - heard.current.since > 1000) heard.current = { since: now, count: 0 };
    heard.current.count += 1 + ports.length;
    if (heard.current.count > MESSAGES) onFlood();
  }, [onFlood]);
  useHandedOver(frame, html, more);
  const { entered, enter } = useHeldFocus(frame, onGrab);
  return (
    <div className="framing still">
      <div className="offer">
        <p role="status">{say("previewRuns")}</p>
        <button type="button" className="btn tight" onClick={onStop}>
          {say("stopScripts")}
        </button>
      </div>
      <div className="framing">
        {entered ? null : <button type="button" className="cover" aria-label={say("enterPreview")} title={say("enterPreview")} onClick={enter} />}
        <iframe
          // A frame is reached by Tab once it was entered.
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
          tabIndex={entered ? 0 : -1}
          ref={frame}
          className="preview"
          src={`${ROOT}/frames/document.html`}
          sandbox="allow-scripts"
          referrerPolicy="no-referrer"
          title={say("previewFrame", title)}
        />
      </div>
    </div>
  );
}
