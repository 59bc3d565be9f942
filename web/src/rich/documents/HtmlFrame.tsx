import { useEffect, useRef } from "react";

import { useWords } from "../../words/words";

/** A document of an agent, in a frame without an origin. The server gives the frame a policy that allows no network. */
export function HtmlFrame({ html, title }: { html: string; title: string }) {
  const { say } = useWords();
  const frame = useRef<HTMLIFrameElement>(null);
  const sent = useRef(false);
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
  return <iframe ref={frame} className="preview" src="/frames/document.html" sandbox="allow-scripts" referrerPolicy="no-referrer" title={say("previewFrame", title)} />;
}
