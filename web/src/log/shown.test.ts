import { describe, expect, it } from "vitest";

import { hiddenIn } from "./hidden";
import { pieces } from "./pieces";
import { drawn, isDense, shown, shownLine } from "./shown";

describe("text before a decision", () => {
  it("stays as it is in any language", () => {
    for (const text of ["npm install && ls -la", "数到两百。", "Zoë – “ça va”", "مرحبا", "a\tb\nc", "👍 日本語"]) expect(shown(text)).toBe(text);
  });

  it("shows what would be hidden", () => {
    expect(shown("rm\u202e -rf")).toBe("rm\\u202e -rf");
    expect(shown("a\u200bb\u0000\r\u00a0\u3000\u{e0041}\ufe0f")).toBe("a\\u200bb\\x00\\r\\xa0\\u3000\\U000e0041\\ufe0f");
  });

  it("is one line where only one is shown", () => {
    expect(shownLine("cd /tmp\nrm x")).toBe("cd /tmp\\nrm x");
  });

  it("tells an escape from a text that looks like one", () => {
    expect(pieces("a\\u202eb")).toEqual([{ text: "a\\u202eb", hidden: null }]);
    expect(pieces("a\u202e\u200bb\r")).toEqual([
      { text: "a", hidden: null },
      { text: "\\u202e\\u200b", hidden: "U+202E U+200B" },
      { text: "b", hidden: null },
      { text: "\\r", hidden: "U+000D" },
    ]);
  });

  it("names each hidden character once", () => {
    expect(hiddenIn("a\u200b\u202eb\u200b\n")).toEqual(["U+200B", "U+202E"]);
  });

  it("leaves joined emoji of a message as they are, and marks what reorders its words", () => {
    expect(pieces("👩‍🚀 ❤️", "misleading")).toHaveLength(1);
    expect(pieces("a\u202eb", "misleading").map((piece) => piece.hidden)).toEqual([null, "U+202E", null]);
  });

  it("marks a thousand hidden characters, and writes out the others with their number", () => {
    const found = pieces("a\x7f".repeat(50_000));
    expect(found).toHaveLength(2001);
    expect(found.filter((piece) => piece.hidden !== null)).toHaveLength(1000);
    expect(found.at(-1)).toEqual({ text: "a\\x7f".repeat(49_000), hidden: null, unmarked: 49_000 });
    expect(pieces("\x7f".repeat(50_000))).toHaveLength(1);
  });

  it("draws the first of many marks on a letter, and tells how many there are", () => {
    const marks = "\u0301".repeat(20_000);
    expect(isDense(`a${marks}`)).toBe(true);
    expect(isDense("é̂́ ก็ื้ נָ֫")).toBe(false);
    expect(drawn(`a${marks}b`)).toBe(`a${"\u0301".repeat(32)}\\u0301×19968b`);
    for (const [kind, most] of [["all", 4], ["misleading", 32]] as const)
      expect(pieces(`a${marks}b`, kind)).toEqual([
        { text: `a${"\u0301".repeat(most)}`, hidden: null },
        { text: `\\u0301×${20_000 - most}`, hidden: "U+0301" },
        { text: "b", hidden: null },
      ]);
  });

  it("draws few marks on a letter before a decision: more would cover the line above", () => {
    expect(shown(`ls\nq${"\u030d".repeat(31)}`)).toBe(`ls\nq${"\u030d".repeat(4)}\\u030d×27`);
    expect(shown("q\u0301\u0302\u0303\u0304\u0305")).toBe("q\u0301\u0302\u0303\u0304\\u0305");
    for (const text of ["ế", "ก็ื้", "בְּרֵאשִׁ֖ית", "ཧྐྵྨླྺྼྻ".slice(0, 5)]) expect(shown(text)).toBe(text);
  });

  it("tells blanks that push what follows them to the next line", () => {
    expect(pieces(`ls${" ".repeat(6000)}; rm -rf ~`)).toEqual([
      { text: "ls", hidden: null },
      { text: "\\x20×6000", hidden: "U+0020" },
      { text: "; rm -rf ~", hidden: null },
    ]);
    expect(shown(`ls${"\t".repeat(30)}; rm`)).toBe("ls\\t×30; rm");
    expect(shown(`ls${" \t".repeat(30)}; rm`)).toBe("ls\\x20\\t×60; rm");
    expect(shown(`ls\n${" ".repeat(200)}rm`)).toBe("ls\n\\x20×200rm");
    expect(hiddenIn(`ls${" ".repeat(6000)}rm${" ".repeat(6000)}x`)).toEqual(["U+0020×6000"]);
  });

  it("leaves the depth of a line, and columns, as they are", () => {
    for (const text of [`a:\n${" ".repeat(44)}b`, "\t".repeat(6) + "x", `NAME${" ".repeat(20)}STATUS`, "a\t\tb\tc"]) expect(shown(text)).toBe(text);
    expect(hiddenIn(`a\n${" ".repeat(44)}b`)).toEqual([]);
    // Within a line the same blanks have no meaning.
    expect(pieces(`${" ".repeat(44)}b`, "all", 10, false)[0]?.hidden).toBe("U+0020");
  });
});
