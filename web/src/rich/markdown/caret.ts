// Puts the caret after the last word of a block that is still written.
import type { Element, ElementContent, Root } from "hast";

const INSIDE = new Set(["p", "li", "ul", "ol", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "td", "th", "section"]);

export function caret() {
  return (tree: Root): void => {
    let place: Root | Element = tree;
    for (;;) {
      const last = lastElement(place.children as ElementContent[]);
      if (!last || !INSIDE.has(last.tagName)) break;
      place = last;
    }
    // Code has its own end.
    if (place.type === "element") place.children.push({ type: "element", tagName: "span", properties: { className: ["caret"] }, children: [] });
  };
}

/** The last element, if no words follow it. */
function lastElement(children: readonly ElementContent[]): Element | null {
  const last = [...children].reverse().find((child) => child.type !== "text" || child.value.trim() !== "");
  return last?.type === "element" ? last : null;
}
