import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";
import { describe, expect, test } from "vitest";

import { cut, EMPTY, read, whole, type Blocks } from "./blocks";

const TEXTS = {
  "paragraphs and headings": "# One\n\nText of one.\nMore.\n\nTitle\n===\n\n## Two ##\ntext\n\n***\nend",
  "a fence with blank lines and marks in it": "Before\n\n```py\na = 1\n\n# no heading\n- no list\n```\n\nAfter\n\n~~~\nopen\n\nstill",
  "a fence inside a list": "1. one\n\n   ```sh\n   ls\n\n   ```\n\n2. two\n\n   more of two\n\nno list\n",
  "loose and tight lists": "- a\n- b\n\n- c\n  - d\n\n    deep\n\n* other\n\n10) ten\n",
  "a table": "Intro\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n| 3 | 4 |\n\nafter [x]\n",
  "quotes with lazy lines": "> a\nlazy\n> - b\n\n> c\n\n    code\n\n    more code\n\ntext\n",
  "link definitions": "See [a], [B][b] and [c].\n\n[a]: http://a.example\n'title\nof a'\n[b]: http://b.example\n\n> [c]: <http://c.example>\n\nAgain [a].\n",
  "a title on the line after": "[a]: http://a.example\n\"begun\nand ended\"\n\n[a]\n",
  "markup that is not rendered": "<div>\n\n*a*\n\n</div>\n\n<!-- a\n\nb -->\n\ntext\n",
  "Windows line ends": "# a\r\n\r\n- b\r\n- c\r\n\r\ntext\r\nmore\r\n\r\n```\r\nx\r\n```\r\n",
};

const shape = ({ blocks, definitions }: Blocks) => ({ blocks: blocks.map((block) => [block.start, block.source]), definitions: [...definitions] });

describe("cut", () => {
  test.each(Object.entries(TEXTS))("gives the same blocks for a text that grows as for the whole: %s", (_, text) => {
    let known = EMPTY;
    for (let end = 1; end <= text.length; end += 1) {
      known = cut(text.slice(0, end), known);
      expect(shape(known)).toEqual(shape(cut(text.slice(0, end))));
    }
  });

  test.each(Object.entries(TEXTS))("loses nothing but blank lines at the beginning: %s", (_, text) => {
    expect(cut(text).blocks.map((block) => block.source).join("")).toBe(text);
  });

  test("keeps the blocks before the last one as they are", () => {
    const before = cut("one\n\ntwo\n\nthr");
    const after = cut("one\n\ntwo\n\nthree\n\nfour", before);
    expect(after.blocks[0]).toBe(before.blocks[0]);
    expect(after.blocks[1]).toBe(before.blocks[1]);
    expect(after.blocks).toHaveLength(4);
  });

  test("begins again when the text is another one", () => {
    const known = cut("one\n\ntwo");
    expect(cut("three", known).blocks.map((block) => block.source)).toEqual(["three"]);
  });

  test("gives the same blocks for any mixture of markdown that grows", () => {
    const bits = ["a", "b c", "\n", "\n\n", "- ", "2", ". ", "1. ", "# ", "#", "> ", "```", "~~~", "`", "    ", "  ", "|", "| a |\n|---|\n", "---", "===", "*", "[a]", ": ", "<div", ">", "<!--", "[^1]"];
    let seed = 11;
    const next = (below: number) => (seed = (seed * 1103515245 + 12345) % 2147483648) % below;
    for (let round = 0; round < 150; round += 1) {
      const parts = Array.from({ length: 4 + next(12) }, () => bits[next(bits.length)] ?? "");
      let known = EMPTY;
      let text = "";
      for (const part of parts) {
        text += part;
        known = cut(text, known);
      }
      expect({ text, ...shape(known) }).toEqual({ text, ...shape(cut(text)) });
    }
  });
});

describe("whole", () => {
  test("gives a block the definitions that it refers to, wherever they are", () => {
    const { blocks, definitions } = cut(TEXTS["link definitions"]);
    expect(whole(blocks[0]!, definitions)).toContain('[a]: <http://a.example> "title of a"');
    expect(whole(blocks[0]!, definitions)).toContain("[c]: <http://c.example>");
    expect(whole(blocks.at(-1)!, definitions)).not.toContain("b.example");
  });

  test("an address of a definition that is still written is not kept in its first form", () => {
    const known = cut("[a]\n\n[a]: http://half");
    expect([...cut("[a]\n\n[a]: http://half.example", known).definitions.values()]).toEqual(["[a]: <http://half.example>"]);
  });
});

describe("read", () => {
  const links = (text: string) => JSON.stringify(read(text)).match(/"url":"[^"]*"/g);

  test.each(["www.a.example", "WWW.a.example", "see http://a.example now", "HTTPS://a.example", "b@a.example", "b&#64;a.example", "www\\.a.example", "**x** &commat; b@a.example"])("finds the address in %s", (text) => {
    expect(links(text)).not.toBeNull();
  });

  test.each(["# One\n\nText *of* one, ~~no~~ `code`.", "- [x] a\n- b\n\n  c", "| a | b |\n|---|--:|\n| 1 | 2 |", "> a\n> - b.c-d_e+f", "Note[^1].\n\n[^1]: Words.", "hypertext, w, ww and h"])(
    "gives the same tree for words without an address as the whole syntax: %s",
    (text) => {
      expect(read(text)).toEqual(fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] }));
    },
  );
});
