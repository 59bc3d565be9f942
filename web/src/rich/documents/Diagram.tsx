import { useEffect, useRef, useState, useSyncExternalStore } from "react";

import type { Colours, DiagramReply, Order } from "../../../frames/diagram";
import { useWords } from "../../words/words";
import { ROOT } from "../../api/root";
import { Code } from "../code/Code";
import { useQuiet } from "./quiet";

/** A drawing that takes longer than this is not waited for, in milliseconds. */
const PATIENCE = 15_000;
const TALLEST = 4000;

/** A diagram, drawn in a sandboxed frame; its source, if it cannot be drawn. */
export function Diagram({ source, title }: { source: string; title: string }) {
  const { say } = useWords();
  const dark = useDark();
  const quiet = useQuiet();
  const frame = useRef<HTMLIFrameElement>(null);
  const [found, setFound] = useState<{ of: string; height: number | null } | null>(null);
  const ready = useRef(false);
  useEffect(() => {
    const order = () => frame.current?.contentWindow?.postMessage({ source, dark, ...look() } satisfies Order, "*");
    const give = () => setFound({ of: source, height: null });
    const receive = (event: MessageEvent<DiagramReply>) => {
      if (event.source !== frame.current?.contentWindow) return;
      const { data } = event;
      if ("ready" in data) {
        ready.current = true;
        order();
      } else if ("height" in data) setFound({ of: source, height: Math.min(Number(data.height) || 0, TALLEST) });
      else give();
      if (!("ready" in data)) clearTimeout(timer);
    };
    addEventListener("message", receive);
    const timer = setTimeout(give, PATIENCE);
    if (ready.current) order();
    return () => {
      removeEventListener("message", receive);
      clearTimeout(timer);
    };
  }, [source, dark]);
  const failed = found?.of === source && found.height === null;
  useEffect(() => {
    // Set by script: the policy of the page allows no style in the document.
    if (frame.current && found?.height) frame.current.style.height = `${found.height}px`;
  }, [found]);
  return (
    <>
      {failed ? (
        <>
          <p className="quiet told">{say("badDiagram")}</p>
          <Code text={source} language="mermaid" bare />
        </>
      ) : null}
      <iframe
        ref={frame}
        className="diagram"
        src={`${ROOT}/frames/diagram.html`}
        sandbox="allow-scripts"
        referrerPolicy="no-referrer"
        title={say("previewFrame", title)}
        hidden={failed || quiet}
      />
    </>
  );
}

const TOKENS: Record<keyof Colours, string> = {
  ground: "--surface-sunken",
  box: "--surface-raised",
  other: "--surface-bubble",
  note: "--pause-soft",
  edge: "--line-control",
  line: "--text-faint",
  text: "--text-strong",
};

/** How the page looks now: its letters, its colours, and how round its corners are. */
function look(): Pick<Order, "font" | "colours" | "radius"> {
  const style = getComputedStyle(document.documentElement);
  const colours = Object.fromEntries(Object.entries(TOKENS).map(([name, token]) => [name, style.getPropertyValue(token).trim()])) as Record<keyof Colours, string>;
  return { font: getComputedStyle(document.body).fontFamily, colours, radius: parseFloat(style.getPropertyValue("--radius-control")) || 0 };
}

/** Whether the page is dark now. */
function useDark(): boolean {
  return useSyncExternalStore(followTheme, () => document.documentElement.dataset.theme === "dark");
}

function followTheme(changed: () => void): () => void {
  const watcher = new MutationObserver(changed);
  watcher.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return () => watcher.disconnect();
}
