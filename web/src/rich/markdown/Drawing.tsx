import { lazy, Suspense, useEffect, useRef, useState } from "react";

import { Copy } from "../../page/Copy";
import { bare } from "../../page/lazy";
import { useWords } from "../../words/words";
import { Code } from "../code/Code";

const Diagram = lazy(() => bare(() => import("../documents/Diagram"))().then((module) => ({ default: module.Diagram })));

/** What is nearer than this to the screen is drawn. Each drawing is a page of its own. */
const NEAR = "400px 0px";

/** A diagram in a text, with its source. */
export function Drawing({ source }: { source: string }) {
  const { say } = useWords();
  const [written, setWritten] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const near = useNear(box);
  const code = <Code text={source} language="mermaid" bare />;
  return (
    <div ref={box} className="code drawing">
      <header>
        <span>mermaid</span>
        <span className="grow" />
        <button type="button" className="copybtn" aria-pressed={written} onClick={() => setWritten(!written)}>
          {say(written ? "preview" : "source")}
        </button>
        <Copy text={source} className="copybtn" named small />
      </header>
      {written || !near ? code : (
        <Suspense fallback={code}>
          <div className="drawn">
            <Diagram source={source} title={say("diagram")} />
          </div>
        </Suspense>
      )}
    </div>
  );
}

/** Whether the element is near the screen, or was while it was drawn. */
function useNear(box: React.RefObject<HTMLElement | null>): boolean {
  const [near, setNear] = useState(false);
  useEffect(() => {
    const element = box.current;
    if (!element || typeof IntersectionObserver === "undefined") return;
    const watcher = new IntersectionObserver((seen) => seen.some((item) => item.isIntersecting) && setNear(true), { rootMargin: NEAR });
    watcher.observe(element);
    return () => watcher.disconnect();
  }, [box]);
  return near;
}
