// @vitest-environment jsdom
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
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

test("a very long difference is drawn in steps, and says when it was drawn to its end", async () => {
  const unread = vi.fn();
  const { container } = render(<Diff before="" after={numbered(800)} path="a" onUnread={unread} />);
  for (const rows of [300, 600, 800]) {
    await waitFor(() => expect(container.querySelectorAll(".ln")).toHaveLength(rows));
    await waitFor(() => expect(unread.mock.lastCall).toEqual([rows < 800]));
    if (rows < 800) fireEvent.click(container.querySelector("button.skip")!);
  }
  expect(container.querySelector("button.skip")).toBeNull();
});

test("a difference that does not fit its box is unread until it was scrolled to its end", async () => {
  const sizes = { scrollHeight: 900, clientHeight: 300 };
  for (const [name, value] of Object.entries(sizes)) vi.spyOn(HTMLElement.prototype, name as "scrollHeight", "get").mockReturnValue(value);
  const unread = vi.fn();
  const { container } = render(<Diff before="" after={numbered(40)} path="a" onUnread={unread} />);
  expect(unread.mock.lastCall).toEqual([true]);
  expect(container.textContent).toContain("More below");
  const lines = container.querySelector(".lines")!;
  lines.scrollTop = 600;
  fireEvent.scroll(lines);
  await waitFor(() => expect(unread.mock.lastCall).toEqual([false]));
});

test("empty lines that were put in are told as a number, and long lines and hidden characters are drawn in part", () => {
  const { container } = render(<Diff before="" after={`a${"\n".repeat(200)}b`} path="a" />);
  expect([...container.querySelectorAll(".ln")].map((line) => line.textContent)).toEqual(["1+a", "2+199 empty lines", "201+b"]);
  cleanup();
  const other = render(<Diff before="" after={"a\x7f".repeat(200_000)} path="a" />);
  expect(other.container.querySelectorAll("*").length).toBeLessThan(300);
  expect(other.container.querySelector("[data-more]")?.textContent).toContain("of 350,000");
});
