// @vitest-environment jsdom
import { cleanup, render, waitFor } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import { Markdown } from "../markdown/Markdown";
import { read } from "../markdown/blocks";
import { draw } from "./Formula";

afterEach(cleanup);

/** The formulas of a text, displayed ones in brackets. */
function formulasIn(text: string): string[] {
  const found: string[] = [];
  const walk = (node: unknown): void => {
    const { type, value, data, children = [] } = node as { type: string; value?: string; data?: { hProperties: { className: string[] } }; children?: unknown[] };
    if (type === "formula") found.push(data?.hProperties.className.includes("display") ? `[${value}]` : String(value));
    children.forEach(walk);
  };
  walk(read(text));
  return found;
}

test.each([
  ["Inline \\(a^2 + b_1*c_1\\) and \\(x\\).", ["a^2 + b_1*c_1", "x"]],
  ["$E = mc^2$, $x$ and $\\frac{1}{2}$: all.", ["E = mc^2", "x", "\\frac{1}{2}"]],
  ["$$\\sum_{i=1}^{n} i$$", ["[\\sum_{i=1}^{n} i]"]],
  ["$$\na = b \\\\\nc = d\n$$", ["[a = b \\\\\nc = d]"]],
  ["\\[\nx = \\begin{cases} 1 \\\\[2pt] 2 \\end{cases}\n\\]", ["[x = \\begin{cases} 1 \\\\[2pt] 2 \\end{cases}]"]],
  ["> - in a quote \\(a+b\\)", ["a+b"]],
  ["| a |\n|---|\n| $x^2$ |", ["x^2"]],
])("%j has formulas", (text, formulas) => {
  expect(formulasIn(text)).toEqual(formulas);
});

test.each([
  "It costs $5 and $10, or $5-$10.",
  "I had $20 and he had 30$ left.",
  "US$5 and 10US$ or A$6$7.",
  "`$x$` and `\\(y\\)`",
  "```\n$x$\n\\(a\\)\n```",
  "echo $HOME/bin:$PATH and $A=$B",
  "\\[citation needed\\] and \\[1\\] and \\(see the note below\\)",
  "\\$x$ and $x\\$",
  "$$ unfinished",
  "\\( unfinished",
  "$ x $",
  "$$$x$$$",
])("%j has none", (text) => {
  expect(formulasIn(text)).toEqual([]);
});

test("what is no formula is shown as markdown says", () => {
  expect(render(<Markdown text={"\\[citation needed\\] for $5 and $10"} />).container.textContent).toBe("[citation needed] for $5 and $10");
});

test("a formula is drawn as MathML, without styles", async () => {
  const { container } = render(<Markdown text={"So \\(a^2\\):\n\n$$\\begin{aligned} a &= \\fbox{b} \\\\ c &= d \\end{aligned}$$"} />);
  await waitFor(() => expect(container.querySelectorAll("math")).toHaveLength(2));
  expect(container.querySelector("p math msup")?.textContent).toBe("a2");
  expect(container.querySelector(".formula math")?.getAttribute("display")).toBe("block");
  expect([...container.querySelectorAll("mtd")].map((cell) => cell.getAttribute("class"))).toEqual(["to-right", "to-left", "to-right", "to-left"]);
  expect(container.querySelector("[style]")).toBeNull();
});

test("what cannot be drawn is shown as it was written", async () => {
  for (const tex of ["\\frac{1", "\\def\\a{x}\\a", "\\sqrt{".repeat(200) + "}".repeat(200), "{".repeat(1e5)]) expect(draw(tex, false)).toBeNull();
  const link = render(<span>{draw("\\href{javascript:alert(1)}{x}+\\includegraphics{x}", false)}</span>).container;
  expect(link.querySelector("[href], [src], a, img")).toBeNull();
  const { container } = render(<Markdown text={"\\(\\frac{1\\)"} />);
  await waitFor(() => expect(container.querySelector("code")?.textContent).toBe("\\frac{1"));
});

test("a formula that would move far from its place stays there", () => {
  const { container } = render(<span>{draw("\\rule[2em]{20em}{20em}\\raisebox{-9em}{x}\\hspace{-20em}\\quad\\!\\raisebox{0.5em}{y}", false)}</span>);
  const lengths = [...container.querySelectorAll("mpadded, mspace")].flatMap((element) => ["width", "height", "depth", "voffset"].map((name) => element.getAttribute(name)));
  expect(lengths.filter((length) => length !== null)).toEqual(["2em", "2em", "20em", "1em", "0.5em"]);
});

test("the formulas of a text are drawn up to a bound, and none that is too long", async () => {
  const told = (text: string) => render(<Markdown text={text} />).container.querySelector(".told") !== null;
  expect(told("$x^2$ ".repeat(49_000))).toBe(true);
  expect(told(`$${"x^2+".repeat(900)}y$\n\n`.repeat(12))).toBe(true);
  expect(told(`- \`\`\`math\n  ${"x^2+".repeat(900)}y\n  \`\`\`\n\n`.repeat(12))).toBe(true);
  expect(told("It costs $5 and $10, not $20. ".repeat(4_000))).toBe(false);
  cleanup();
  const { container } = render(<Markdown text={`\`\`\`math\n\\begin{array}{c}${"a&".repeat(20_000)}\\end{array}\n\`\`\`\n\n$a^2$`} />);
  await waitFor(() => expect(container.querySelectorAll("math")).toHaveLength(1));
  expect(container.querySelector(".code")?.textContent).toContain("begin{array}");
});

test.each([
  ["dollars", "$a ".repeat(20_000)],
  ["pairs of dollars", "$$a ".repeat(16_000)],
  ["brackets", "\\(a ".repeat(16_000)],
  ["dollars that were escaped", `$a${"\\$".repeat(30_000)}`],
])("many beginnings take one reading: %s", (_, text) => {
  const before = performance.now();
  formulasIn(text.slice(0, 6_000));
  const small = performance.now() - before;
  const start = performance.now();
  formulasIn(text);
  // Ten times the text would take a hundred times as long, if it were the square.
  expect(performance.now() - start).toBeLessThan((small + 50) * 60);
});

test("a diagram is drawn in a frame when its block is complete, and its source is behind a button", async () => {
  const seen = new Set<() => void>();
  class Near {
    constructor(private readonly tell: (items: { isIntersecting: boolean }[]) => void) {}
    observe = () => void seen.add(() => this.tell([{ isIntersecting: true }]));
    disconnect = () => undefined;
  }
  globalThis.IntersectionObserver = Near as unknown as typeof IntersectionObserver;
  const source = "```mermaid\ngraph LR; A-->B\n```\n\nnext";
  const { container, rerender } = render(<Markdown text={source.slice(0, 25)} live />);
  expect(container.querySelector("iframe")).toBeNull();
  rerender(<Markdown text={source} />);
  seen.forEach((tell) => tell());
  await waitFor(() => expect(container.querySelector("iframe.diagram")?.getAttribute("sandbox")).toBe("allow-scripts"));
  const toggle = [...container.querySelectorAll("button")].find((button) => button.textContent === "Source");
  toggle?.click();
  await waitFor(() => expect(container.querySelector("iframe")).toBeNull());
  expect(container.querySelector(".code code")?.textContent).toBe("graph LR; A-->B");
});
