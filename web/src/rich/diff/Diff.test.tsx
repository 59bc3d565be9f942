// @vitest-environment jsdom
import { fireEvent, render, screen } from "@testing-library/react";
import { cleanup } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";

import { Diff } from "./Diff";

afterEach(cleanup);

const numbered = (n: number, changed: number[] = []) => Array.from({ length: n }, (_, i) => (changed.includes(i) ? `new ${i}` : `line ${i}`)).join("\n");

test("an unchanged part is folded and opens on click", () => {
  const { container } = render(<Diff before={numbered(20)} after={numbered(20, [0, 19])} path="a.txt" />);
  expect(screen.getByText("+2")).toBeTruthy();
  expect(container.querySelectorAll(".ln")).toHaveLength(8);
  fireEvent.click(screen.getByRole("button", { name: "14 unchanged lines" }));
  expect(container.querySelectorAll(".ln")).toHaveLength(22);
});

test("side by side, a line without a partner has an empty place beside it", () => {
  const { container } = render(<Diff before={"a\n"} after={"a\nb\n"} path="a.txt" mode="split" />);
  expect([...container.querySelectorAll(".ln")].map((line) => line.className)).toEqual(["ln", "ln", "ln void", "ln add"]);
});

test("characters that hide or reorder text are shown by their number", () => {
  const { container } = render(<Diff before="" after={"user = '\u202eadmin\u200b'\r\n"} path={"a\u202e.txt"} />);
  expect(container.textContent).toContain("user = '\\u202eadmin\\u200b'\\r");
  expect(container.textContent).toContain("a\\u202e.txt");
});

test("a change of the last line break alone is told", () => {
  const { container } = render(<Diff before="a" after={"a\n"} path="a" />);
  expect(container.querySelectorAll(".skip")).toHaveLength(1);
});

test("an escape and the characters that it looks like are different", () => {
  const { container } = render(<Diff before={"a = '\\u202e'\n"} after={"a = '\u202e'\n"} path="a" />);
  expect(screen.getByText("+1")).toBeTruthy();
  const escapes = [...container.querySelectorAll(".escape")];
  expect(escapes.map((escape) => [escape.textContent, escape.getAttribute("title"), escape.closest(".ln")?.className])).toEqual([["\\u202e", "U+202E", "ln add"]]);
});

test("a very long difference is drawn in steps, and says when it was drawn to its end", () => {
  const seen = vi.fn();
  const { container } = render(<Diff before="" after={numbered(2500)} path="a" onSeen={seen} />);
  for (const rows of [1000, 2000, 2500]) {
    expect(container.querySelectorAll(".ln")).toHaveLength(rows);
    expect(seen.mock.lastCall).toEqual([rows === 2500]);
    if (rows < 2500) fireEvent.click(container.querySelector("button.skip")!);
  }
  expect(container.querySelector("button.skip")).toBeNull();
});
