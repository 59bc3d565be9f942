import type { Element, ElementContent } from "hast";
import { useEffect, useRef, useState, type ComponentProps } from "react";
import type { ExtraProps } from "react-markdown";

import { useWords } from "../../words/words";

type Props<Tag extends keyof React.JSX.IntrinsicElements> = ComponentProps<Tag> & ExtraProps;

/** Pixels that do not count as something out of sight. */
const SLACK = 2;

/** A wide table scrolls in its own box, also by the keyboard. Where more of it is out of sight, it fades. */
export function Table({ children }: Props<"table">) {
  const { say } = useWords();
  const box = useRef<HTMLDivElement>(null);
  const [edges, setEdges] = useState("");
  useEffect(() => {
    const element = box.current;
    if (!element || typeof ResizeObserver === "undefined") return;
    const look = (): void => {
      const rest = element.scrollWidth - element.clientWidth;
      const wide = rest > SLACK;
      setEdges([wide && element.scrollLeft > SLACK ? "before" : "", wide && rest - element.scrollLeft > SLACK ? "after" : ""].filter(Boolean).join(" "));
    };
    // It looks as soon as the table is laid out, and then makes the browser do nothing twice.
    const watcher = new ResizeObserver(look);
    watcher.observe(element);
    if (element.firstElementChild) watcher.observe(element.firstElementChild);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      watcher.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, []);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div ref={box} className={edges ? `table ${edges}` : "table"} tabIndex={edges ? 0 : undefined} role="group" aria-label={say("table")}>
      <table>{children}</table>
    </div>
  );
}

const SIDES: Record<string, string> = { right: "r", center: "mid" };
/** A number, a date, a price: it stays on one line. */
const NUMBER = /^[\d\s.,:;%‰°+\-−–/×€$£¥()]{1,40}$/;

/** A text of more characters than this is not squeezed into a narrow column. */
const LONG = 24;

function styleOf(node: Element | undefined): string | undefined {
  const { align } = node?.properties ?? {};
  const text = (node?.children ?? []).map(wordsOf).join("");
  const found = [typeof align === "string" ? SIDES[align] : undefined, /\d/.test(text) && NUMBER.test(text.trim()) ? "whole" : undefined, text.length > LONG ? "long" : undefined].filter(Boolean);
  return found.length > 0 ? found.join(" ") : undefined;
}

export const Head = ({ node, children }: Props<"th">) => <th className={styleOf(node)}>{children}</th>;
export const Cell = ({ node, children }: Props<"td">) => <td className={styleOf(node)}>{children}</td>;

export function wordsOf(node: ElementContent): string {
  if (node.type === "text") return node.value;
  if (node.type !== "element") return "";
  return node.tagName === "img" ? String(node.properties.alt ?? "") : node.children.map(wordsOf).join("");
}
