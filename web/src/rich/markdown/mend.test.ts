import { expect, test } from "vitest";

import { mend } from "./mend";

test.each([
  ["some **bold wor", "some **bold wor**"],
  ["some **bold*", "some **bold**"],
  ["some **", "some "],
  ["some **bold**", "some **bold**"],
  ["*a* and *b", "*a* and *b*"],
  ["***both", "***both***"],
  ["a_b_c", "a_b_c"],
  ["2 * 3", "2 * 3"],
  ["~~gone", "~~gone~~"],
  ["run `npm i", "run `npm i`"],
  ["run `", "run "],
  ["``a ` b", "``a ` b``"],
  ["**bold `co", "**bold `co`**"],
  ["see [the do", "see the do"],
  ["see [the docs](http://exam", "see the docs"],
  ["see [the docs](http://example.com) now", "see [the docs](http://example.com) now"],
  ["look: ![pic](http://x", "look: "],
  ["text\n-", "text"],
  ["text\n==", "text"],
  ["text\n1.", "text"],
  ["- a\n- [", "- a"],
  ["- a\n- [x", "- a"],
  ["- [x] done", "- [x] done"],
  ["#", ""],
  ["##", ""],
  ["| Step | No", "| Step | No\n|---|---|"],
  ["| Step | Now |\n|--", "| Step | Now |\n|---|---|"],
  ["| a |\n|---|\n| **b", "| a |\n|---|\n| **b**"],
  ["```py\ncode `**\n", "```py\ncode `**\n"],
  ["```py\ncode\n``", "```py\ncode\n"],
  ["one\n\ntwo *thr", "one\n\ntwo *thr*"],
  ["an escaped \\*star", "an escaped \\*star"],
])("%j is shown as %j", (source, shown) => {
  expect(mend(source)).toBe(shown);
});

test("very many lines that have only marks are left out, one by one", () => {
  expect(mend(`a\n${">\n".repeat(40_000)}>`)).toBe("a");
  expect(mend(">\n".repeat(40_000))).toBe("");
});

test("a text with very many spaces is not searched again from each of them", () => {
  // With the square of their number this would take minutes.
  const spaces = " ".repeat(400_000);
  expect(mend(`a${spaces}b\n${spaces}*c`)).toBe(`a${spaces}b\n${spaces}*c*`);
});
