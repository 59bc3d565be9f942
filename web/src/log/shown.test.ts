import { describe, expect, it } from "vitest";

import { drawn, hiddenIn, isDense, pieces, shown, shownLine } from "./shown";

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
    expect(shown(`a${marks}`)).toBe(`a${"\u0301".repeat(32)}\\u0301×19968`);
    for (const kind of ["all", "misleading"] as const)
      expect(pieces(`a${marks}b`, kind)).toEqual([
        { text: `a${"\u0301".repeat(32)}`, hidden: null },
        { text: "\\u0301×19968", hidden: "U+0301" },
        { text: "b", hidden: null },
      ]);
  });
});
