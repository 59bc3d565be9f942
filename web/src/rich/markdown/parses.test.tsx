// @vitest-environment jsdom
// What a token costs, counted: times depend on the machine.
import { act, cleanup, render } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";

import { Markdown } from "./Markdown";

const parsed = vi.hoisted(() => [] as string[]);
const read = vi.hoisted(() => [] as string[]);
vi.mock("react-markdown", async (original) => {
  const { default: Real } = await original<typeof import("react-markdown")>();
  return {
    default: (props: { children: string }) => {
      parsed.push(props.children);
      return <Real {...props} />;
    },
  };
});
vi.mock("mdast-util-from-markdown", async (original) => {
  const real = await original<typeof import("mdast-util-from-markdown")>();
  return {
    ...real,
    fromMarkdown: (...given: Parameters<typeof real.fromMarkdown>) => {
      read.push(String(given[0]));
      return real.fromMarkdown(...given);
    },
  };
});

afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

test("each token parses the last block again and nothing else", () => {
  vi.useFakeTimers();
  const paragraphs = Array.from({ length: 24 }, (_, n) => `Paragraph ${n} with **bold** words and some more of them.`);
  const tokens = paragraphs.join("\n\n").match(/\s*\S{1,5}/g) ?? [];
  const longest = Math.max(...paragraphs.map((text) => text.length)) + 2;
  const { rerender, container } = render(<Markdown text="" live />);
  let text = "";
  let drawings = 0;
  for (const token of tokens) {
    text += token;
    parsed.length = 0;
    read.length = 0;
    rerender(<Markdown text={text} live />);
    act(() => void vi.advanceTimersByTime(1000));
    drawings += 1;
    // When a block begins, the one before it is drawn for the last time: it is no longer the last.
    expect(parsed.length).toBeLessThanOrEqual(2);
    // The block that ended, and what has begun after it.
    expect(Math.max(0, ...read.map((source) => source.length))).toBeLessThanOrEqual(2 * longest);
  }
  expect(drawings).toBe(tokens.length);
  expect(container.querySelectorAll("p")).toHaveLength(24);
  parsed.length = 0;
  rerender(<Markdown text={text} live={false} />);
  expect(parsed).toEqual([paragraphs.at(-1)]);
});

test("words that come faster than they are drawn cost nothing but the drawing", () => {
  vi.useFakeTimers();
  const { rerender, container } = render(<Markdown text="a" live />);
  parsed.length = 0;
  for (let n = 0; n < 100; n += 1) rerender(<Markdown text={`a${" b".repeat(n)}`} live />);
  expect(parsed.length).toBeLessThanOrEqual(1);
  act(() => void vi.advanceTimersByTime(1000));
  expect(parsed.length).toBeLessThanOrEqual(2);
  expect(container.textContent).toBe(`a${" b".repeat(99)}`);
});
