// Draws a formula as MathML, which needs no styles. Loaded when the first formula is shown.
import katex from "katex";
import { createElement, useMemo, type ReactNode } from "react";

/** A formula could define its own words, and write a very long one with few. */
const DEFINES = /\\(?:[egx]?def|let|futurelet|(?:re)?newcommand|providecommand|global|long|DeclareMathOperator)(?![a-z])/i;
const DEEPEST = 60;
const ATTRIBUTES = new Set(
  "display mathvariant stretchy fence separator form lspace rspace minsize maxsize columnspacing rowspacing rowlines columnlines scriptlevel displaystyle width height voffset depth linethickness accent accentunder mathcolor mathbackground notation movablelimits symmetric".split(" "),
);
const ELEMENTS = new Set(
  "math mrow mi mn mo ms mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover mmultiscripts mprescripts none mtable mtr mtd mlabeledtr mstyle mpadded mphantom menclose merror".split(" "),
);

export default function Formula({ tex, display }: { tex: string; display: boolean }) {
  const drawn = useMemo(() => draw(tex, display), [tex, display]);
  if (drawn === null) return <code>{tex}</code>;
  // A wide one scrolls, also by the keyboard.
  // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
  return display ? <span className="formula" tabIndex={0} role="group" aria-label={tex}>{drawn}</span> : <span>{drawn}</span>;
}

/** The elements of a formula; null if it cannot be drawn. */
export function draw(tex: string, display: boolean): ReactNode {
  if (DEFINES.test(tex)) return null;
  try {
    const text = katex.renderToString(tex, { output: "mathml", displayMode: display, throwOnError: true, strict: "ignore", trust: false, maxExpand: 200, maxSize: 20 });
    const math = new DOMParser().parseFromString(text, "text/html").querySelector("math");
    return math && elementOf(math, 0);
  } catch {
    return null;
  }
}

function elementOf(node: Element, key: number, depth = 0, sides: readonly string[] = []): ReactNode {
  if (depth > DEEPEST) throw new RangeError("too deep");
  const name = node.localName;
  if (name === "annotation") return null;
  const own = name === "mtable" ? (node.getAttribute("columnalign") ?? "").split(" ") : sides;
  const children = [...node.childNodes].map((child, index) => (child instanceof Element ? elementOf(child, index, depth + 1, own) : child.textContent));
  if (name === "semantics") return children;
  if (!ELEMENTS.has(name)) return children;
  const attributes = [...node.attributes].filter((item) => ATTRIBUTES.has(item.name)).map((item) => [item.name, item.value] as const);
  return createElement(name, { key, ...Object.fromEntries(attributes), ...sideOf(node, name, own) }, ...children);
}

/** Browsers know no `columnalign`: a class of the cell tells its side. */
function sideOf(node: Element, name: string, sides: readonly string[]): { className?: string } {
  if (name !== "mtd") return {};
  const at = [...(node.parentElement?.children ?? [])].indexOf(node);
  const side = sides[at] ?? sides.at(-1);
  return side === "left" || side === "right" ? { className: `to-${side}` } : {};
}
