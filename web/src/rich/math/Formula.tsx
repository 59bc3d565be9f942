// Draws a formula as MathML, which needs no styles. Loaded when the first formula is shown.
import katex from "katex";
import { createElement, useMemo, type ReactNode } from "react";

import { LONGEST } from "./weight";

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
  // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
  return display ? <span className="formula" tabIndex={0} role="group" aria-label={tex}>{drawn}</span> : <span className="formula-among">{drawn}</span>;
}

/** The elements of a formula; null if it cannot be drawn. */
export function draw(tex: string, display: boolean): ReactNode {
  if (tex.length > LONGEST || DEFINES.test(tex)) return null;
  try {
    const text = katex.renderToString(tex, { output: "mathml", displayMode: display, throwOnError: true, strict: "ignore", trust: false, maxExpand: 200, maxSize: 20 });
    const math = new DOMParser().parseFromString(text, "text/html").querySelector("math");
    return math && elementOf(math, 0);
  } catch {
    return null;
  }
}

const MOVES = new Set(["width", "height", "depth", "voffset"]);
const LENGTH = /^([+-]?[\d.]+)(em|pt|px|%)?$/;
/** Times the size of the letters, and how much of that the units are. */
const NEAR = 4;
const WIDEST = 20;
const UNITS = { em: 1, pt: 0.1, px: 0.1 };

/** Whether an attribute leaves the element about where it is: a formula could be drawn over what is around it. */
function staysNear({ name, value }: Attr): boolean {
  if (!MOVES.has(name)) return true;
  const [, length, unit = "em"] = LENGTH.exec(value) ?? [];
  if (unit === "%") return name === "width";
  const size = Number(length) * UNITS[unit as keyof typeof UNITS];
  return size >= -NEAR && size <= (name === "width" ? WIDEST : NEAR);
}

function elementOf(node: Element, key: number, depth = 0, sides: readonly string[] = []): ReactNode {
  if (depth > DEEPEST) throw new RangeError("too deep");
  const name = node.localName;
  if (name === "annotation") return null;
  const own = name === "mtable" ? (node.getAttribute("columnalign") ?? "").split(" ") : sides;
  const children = [...node.childNodes].map((child, index) => (child instanceof Element ? elementOf(child, index, depth + 1, own) : child.textContent));
  if (name === "semantics") return children;
  if (!ELEMENTS.has(name)) return children;
  const attributes = [...node.attributes].filter((item) => ATTRIBUTES.has(item.name) && staysNear(item)).map((item) => [item.name, item.value] as const);
  return createElement(name, { key, ...Object.fromEntries(attributes), ...sideOf(name, key, own) }, ...children);
}

/** Browsers know no `columnalign`: a class of the cell at this place of its row tells its side. */
function sideOf(name: string, at: number, sides: readonly string[]): { className?: string } {
  if (name !== "mtd") return {};
  const side = sides[at] ?? sides.at(-1);
  return side === "left" || side === "right" ? { className: `to-${side}` } : {};
}
