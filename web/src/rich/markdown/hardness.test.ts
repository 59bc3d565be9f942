import { expect, test, vi } from "vitest";

import { EASY, hardness } from "./hardness";

const hard = (text: string) => hardness(text).hard;
const nested = (depth: number) => Array.from({ length: depth }, (_, n) => `${" ".repeat(2 * n)}- a`).join("\n");
const table = (columns: number, rows: number) => `|${"a|".repeat(columns)}\n|${"-|".repeat(columns)}\n${"|b\n".repeat(rows)}`;
const notes = (count: number) => Array.from({ length: count }, (_, n) => `a[^${n}]\n\n[^${n}]: x\n`).join("\n");

test.each([
  ["a table whose short rows are filled up", table(1500, 1500)],
  ["pictures that never end", "![abcd](".repeat(8000)],
  ["closing brackets", "a]".repeat(8000)],
  ["code with every number of backticks", Array.from({ length: 700 }, (_, n) => `${"`".repeat(n + 1)}a`).join(" ")],
  ["footnotes", notes(5000)],
  ["lists in lists, line by line", nested(350)],
  ["many lists in lists", `${nested(50)}\n\n`.repeat(80)],
  ["headings", "# a\n".repeat(60_000)],
  ["headings with the line ends of old computers", "# a\r".repeat(60_000)],
  ["blocks of code", "```js\na\n```\n".repeat(5000)],
  ["paragraphs", "a\n\n".repeat(90_000)],
  ["comments that never end", "a <!-- b ".repeat(5000)],
  ["a run of signs", `http://a.example/${".".repeat(5000)}`],
  ["addresses after backslashes, and lists that never begin", `"${"\\\\http://a.b/".repeat(12_000)}${"  - ``".repeat(20_000)}`],
  ["a letter with thousands of accents", `a${"\u0301".repeat(3000)}`],
  ["accents in code", `\`\`\`\na${"\u0301".repeat(3000)}\n\`\`\``],
  ["titles of links that never end", `${"[a](b (".repeat(900)}${"plain words ".repeat(5000)}`],
  ["titles after long addresses", `[a](${"b".repeat(400)} "c `.repeat(600)],
  ["titles in the next line", `${"[a](b\\)\n'".repeat(900)}${"plain words ".repeat(5000)}`],
  ["addresses in brackets that never end", `${"[a](<b ".repeat(900)}${"plain words ".repeat(5000)}`],
  ["a line of Thai without a blank", "ก็".repeat(16_000)],
  ["words that stand open", "*abcd ".repeat(40_000)],
  ["markup before something that only looks like code", `<div>\n\`\`\`\n\n${"# a\n".repeat(60_000)}`],
  ["a fence that ends code in a list", `- \`\`\`\n  \`\`\`\n${"# a\n".repeat(60_000)}`],
])("is too hard: %s", (_, text) => {
  expect(hard(text)).toBe(true);
});

test.each([
  ["a line of signs", `${"*".repeat(60)}\n${"plain words ".repeat(80)}`],
  ["a form", `Name: ${"_".repeat(32)}\n\n${"Please fill in this form. ".repeat(40)}`],
  ["a long text", "Some words of a long text, with **two** of them bold and `code`.\nMore of them.\n\n".repeat(1200)],
  ["a list of links", "- [a name](https://a.example/some/path)\n".repeat(1500)],
  ["a numbered list of links", "1. [a name](https://a.example/some/path)\n".repeat(900)],
  ["links with titles", `See ${'[a name](https://a.example/(some)/path "The title (of it)"), [b](<c d> (e)), f[0](x, "y"), '.repeat(300)}`],
  ["words of Thai", "ประเทศไทยรวมเลือดเนื้อชาติเชื้อไทย เป็นประชารัฐ ไผทของไทยทุกส่วน\n".repeat(400)],
  ["a table", table(10, 0) + `|${" some words |".repeat(10)}\n`.repeat(300)],
  ["long code", `Code:\n\`\`\`py\n${"a_b_c[0] = [d * e, f * g]  # ***\n".repeat(8000)}\`\`\`\nand words`],
  ["words in columns", `a${" ".repeat(5000)}b`],
])("is laid out: %s", (_, text) => {
  expect(hard(text)).toBe(false);
});

test("a text that grows is as hard as the whole at every step, and only its last line is looked at again", () => {
  const text = "# a\r\n\r\n| a | b |\n|---|---|\n| *x* | [y](z) |\n\n```js\n[*_\n```\n> - a ``b``\n<b>\nc";
  let known = EASY;
  for (let end = 1; end <= text.length; end += 1) {
    known = hardness(text.slice(0, end), known);
    expect({ ...known, counts: null, from: 0 }).toEqual({ ...hardness(text.slice(0, end)), counts: null, from: 0 });
    expect(/[\n\r]./.test(text.slice(known.from, end))).toBe(false);
  }
});

/** The work, counted in the characters that are cut out of the text. */
function work(text: string): number {
  const slice = vi.spyOn(String.prototype, "slice");
  hardness(text);
  const sum = slice.mock.results.reduce((all, { value }) => all + String(value).length, 0);
  slice.mockRestore();
  return sum;
}

test.each([
  ["stars", (n: number) => `${"*".repeat(60)}\n`.repeat(n)],
  ["words", (n: number) => "some words\n".repeat(n)],
  ["one line", (n: number) => "a ".repeat(n * 20)],
])("twice the text is twice the work: %s", (_, text) => {
  expect(work(text(2000))).toBeLessThanOrEqual(2 * work(text(1000)) + 100);
});
