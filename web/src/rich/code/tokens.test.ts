// @vitest-environment node
import { expect, test } from "vitest";

import { Highlighter } from "./tokens";

const kinds = (lines: { text: string; kind: string }[][]) => lines.map((line) => line.map((token) => `${token.kind}:${token.text}`));

test("code is cut into coloured pieces without losing a character", async () => {
  const sheet = await new Highlighter().sheet("python");
  const text = 'def f(x):\n    """doc\n    more"""\n    return "s" + 1  # note';
  const { from, lines } = sheet!.update(text);
  expect(from).toBe(0);
  expect(lines.map((line) => line.map((token) => token.text).join("")).join("\n")).toBe(text);
  const all = kinds(lines).flat();
  expect(all).toContain("k:def");
  expect(all.some((token) => token.startsWith("c:#") || token.startsWith("c:# note"))).toBe(true);
  expect(all).toContain("n:1");
});

test("a text that grows gives only its new lines, with the colours that the whole has", async () => {
  const highlighter = new Highlighter();
  const text = 'a = """one\ntwo\nthree"""\nb = 2';
  const whole = (await highlighter.sheet("python"))!.update(text).lines;
  const growing = (await highlighter.sheet("python"))!;
  let lines: unknown[] = [];
  for (let end = 1; end <= text.length; end += 1) {
    const part = growing.update(text.slice(0, end));
    expect(part.from).toBeGreaterThanOrEqual(lines.length - 1);
    lines = [...lines.slice(0, part.from), ...part.lines];
  }
  expect(lines).toEqual(whole);
});

test("a language that nobody knows has no colours", async () => {
  expect(await new Highlighter().sheet("constructor")).toBeNull();
});
