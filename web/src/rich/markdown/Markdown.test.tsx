// @vitest-environment jsdom
import { act, cleanup, render } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";

import { Markdown } from "./Markdown";

afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const shown = (text: string, live = false) => render(<Markdown text={text} live={live} />).container;

test("links open elsewhere without a way back, and only addresses of pages and mails are links", () => {
  const page = shown("[a](https://a.example) [b](javascript:alert(1)) [c](mailto:c@c.example) [d](/api/v2/me) [e](data:text/html,x) https://f.example");
  const links = [...page.querySelectorAll("a")];
  expect(links.map((link) => link.getAttribute("href"))).toEqual(["https://a.example", "mailto:c@c.example", "https://f.example"]);
  expect(links.every((link) => link.target === "_blank" && link.rel === "noopener noreferrer")).toBe(true);
  expect(page.textContent).toContain("b c d e");
});

test("a picture is a link and is not loaded", () => {
  const page = shown("![a cat](https://a.example/cat.png) ![](https://b.example/x)\n\n<img src=https://c.example/x>");
  expect(page.querySelector("img")).toBeNull();
  expect(page.querySelector("a")?.textContent).toBe("Picture: a cat");
});

test("markup is shown as text", () => {
  const page = shown("<script>alert(1)</script>\n\n<b onclick=x>bold</b> a");
  expect(page.querySelector("script, b")).toBeNull();
  expect(page.textContent).toContain("<script>alert(1)</script>");
});

test("tables, task lists, quotes and code have their elements", () => {
  const page = shown("# T\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n- [x] done\n- [ ] open\n\n> quote\n\n```ts title=\"a.ts\"\nlet x\n```\n");
  expect(page.querySelector("h2")?.textContent).toBe("T");
  expect(page.querySelector(".table td.r")?.textContent).toBe("2");
  expect([...page.querySelectorAll("input")].map((box) => box.checked)).toEqual([true, false]);
  expect(page.querySelector("blockquote")).not.toBeNull();
  expect(page.querySelector(".code header")?.textContent).toContain("a.ts");
  expect(page.querySelector(".code code")?.textContent).toBe("let x");
  expect(page.querySelector("[style]")).toBeNull();
});

test("a text that grows looks like the whole text at its end, and never shows an unfinished mark", () => {
  const text = "# Plan\n\nSome **bold** and `code` with [a link](https://a.example).\n\n1. one\n2. two\n\n| a | b |\n|---|---|\n| *x* | y |\n\n```js\nlet a = `x`\n```\n\nSee [ref].\n\n[ref]: https://r.example\n";
  vi.useFakeTimers();
  const drawn = new Set<string>();
  const { container, rerender } = render(<Markdown text="" live />);
  for (let end = 1; end <= text.length; end += 1) {
    rerender(<Markdown text={text.slice(0, end)} live />);
    act(() => void vi.advanceTimersByTime(1000));
    const prose = [...container.querySelectorAll("p, li, td, th, h2, h3")].map((element) => element.textContent).join("\n");
    expect(prose).not.toMatch(/\*\*|`|\]\(|\|/);
    drawn.add(prose);
  }
  // It was drawn while it grew, not only at its end.
  expect(drawn.size).toBeGreaterThan(40);
  rerender(<Markdown text={text} live={false} />);
  expect(container.innerHTML.replace(/_r_\w+_/g, "")).toBe(shown(text).innerHTML.replace(/_r_\w+_/g, ""));
});

test("the caret stands after the last word while words arrive, and then is gone", () => {
  const page = shown("one\n\n- two\n- three", true);
  expect(page.querySelector("li:last-child > .caret")).not.toBeNull();
  expect(page.querySelectorAll(".caret")).toHaveLength(1);
  expect(shown("one").querySelector(".caret")).toBeNull();
});

test("the sign of a place stands between two blocks, before the one that was not read to its end", () => {
  const text = "one two\n\nthree four [ref]\n\nfive\n\n[ref]: https://r.example\n";
  const at = (after: number) => {
    const page = render(<Markdown text={text} mark={{ after, sign: <hr /> }} />).container;
    expect(page.querySelectorAll("hr")).toHaveLength(1);
    expect(page.querySelector("a")?.getAttribute("href")).toBe("https://r.example");
    return [...page.children].map((child) => (child.tagName === "HR" ? "sign" : child.textContent));
  };
  expect(at(3)).toEqual(["sign", "one twothree four reffive"]);
  expect(at("one two".length)).toEqual(["one two", "sign", "three four reffive"]);
  expect(at("one two\n\nthree".length)).toEqual(["one two", "sign", "three four reffive"]);
  expect(at("one two\n\nthree four [ref]\n".length)).toEqual(["one twothree four ref", "sign", "five"]);
});

test("footnotes are numbered over the whole text", () => {
  const page = shown("One[^a].\n\nTwo[^b].\n\n[^a]: First.\n\n[^b]: Second.");
  expect([...page.querySelectorAll("sup")].map((mark) => mark.textContent)).toEqual(["1", "2"]);
  expect(page.querySelectorAll("section li")).toHaveLength(2);
});

test.each([
  ["quotes in quotes", ">".repeat(20_000) + "a"],
  ["lists in lists", "- ".repeat(20_000) + "a"],
  ["open brackets", "[".repeat(50_000)],
  ["open emphasis", "*a ".repeat(50_000)],
  ["pictures in pictures", "![".repeat(30_000)],
  ["a very long text", "word ".repeat(100_000)],
  ["a line of stars", `${"*".repeat(60)}\n${"plain words ".repeat(80)}`],
  ["very many headings", "# a\n".repeat(60_000)],
])("a hostile text is shown, as it was written if need be: %s", (_, text) => {
  expect(shown(text).textContent?.replace(/\s/g, "")).toContain(text.slice(-10).replace(/\s/g, ""));
});

test("a text that is too hard is one element, with a note", () => {
  const page = shown(`|${"a|".repeat(1500)}\n|${"-|".repeat(1500)}\n${"|b\n".repeat(1500)}`);
  expect(page.querySelectorAll("*").length).toBeLessThan(5);
  expect(page.textContent).toContain("too intricate");
});

test("a long definition is not repeated in thousands of blocks", () => {
  const page = shown(`${"[a]\n\n".repeat(3000)}[a]: https://a.example/${"x".repeat(50_000)}\n`);
  expect(page.querySelectorAll("a")).toHaveLength(0);
  expect(page.innerHTML.length).toBeLessThan(100_000);
});

test("footnotes have a heading for those who do not see them, in the language of the page", () => {
  const { container } = render(<Markdown text={"Words[^1]\n\n[^1]: A note."} />);
  const heading = container.querySelector("section > .sr");
  expect(heading?.textContent).toBe("Footnotes");
  expect(heading?.tagName).toMatch(/^H\d$/);
});

test("a link leads to no place of the page but a footnote, and says where it leads if its words say something else", () => {
  const { container } = render(<Markdown text={"[jump](#box) a[^1] [https://good.example](https://evil.example/x)\n\n[^1]: note"} />);
  const links = [...container.querySelectorAll("a")].map((link) => link.getAttribute("href"));
  expect(links).not.toContain("#box");
  expect(links.filter((link) => link?.startsWith("#"))).toHaveLength(2);
  expect(container.querySelector("p")?.textContent).toBe("jump a1 https://good.example (evil.example)");
});

test.each([
  ["[\u202emoc.doog//:sptth](https://evil.example)", "\u202emoc.doog//:sptth"],
  ["![https://good.example](https://evil.example/a.png)", "Picture: https://good.example"],
  ["[![https://good.example](x.png)](https://evil.example)", "Picture: https://good.example"],
])("no character in the words of %j turns the place to which it leads", (text, words) => {
  const { container } = render(<Markdown text={text} />);
  expect(container.querySelector("a > bdi")?.textContent).toBe(words);
  expect(container.querySelector("small > bdi[dir=ltr]")?.textContent).toBe("(evil.example)");
});

test("a picture in a link leads where the link leads", () => {
  const { container } = render(<Markdown text="[![build](https://a.example/badge.svg)](https://b.example)" />);
  const links = [...container.querySelectorAll("a")].map((link) => [link.textContent, link.getAttribute("href")]);
  expect(links).toEqual([["Picture: build", "https://b.example"]]);
});
