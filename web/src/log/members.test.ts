import { describe, expect, it } from "vitest";

import { NO_MEMBERS, read, whole, type Members } from "./members";

const inPieces = (text: string, width: number): Members => {
  let found = NO_MEMBERS;
  for (let at = 0; at < text.length; at += width) found = read(found, text.slice(at, at + width));
  return found;
};

const DOCUMENT = { content: 'A "quote", a \\ and a\ttab\n\n报告 😀 é \u2028 {"id": "inner"}', id: "report", list: ["x", { id: "deep", more: [["y"]] }], n: 1.5e3, yes: true, none: null, title: "" };
const STRINGS = { content: DOCUMENT.content, id: "report", title: "" };

describe("the members of an object that is still written", () => {
  it.each([1, 2, 3, 5, 7, 1000])("are what JSON has, in pieces of %i", (width) => {
    expect(inPieces(JSON.stringify(DOCUMENT), width).values).toEqual(STRINGS);
    expect(inPieces(JSON.stringify(DOCUMENT, null, 2), width).values).toEqual(STRINGS);
    const escaped = JSON.stringify(DOCUMENT).replace(/[^\x20-\x7e]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
    expect(inPieces(escaped, width).values).toEqual(STRINGS);
  });

  it("only ever grow: nothing that was shown is taken back, and half a character is not shown", () => {
    const text = '{"content": "a\\ud83d\\ude00b\\u00e9\\n", "id": "x"}';
    let found = NO_MEMBERS;
    let before = "";
    for (const sign of text) {
      found = read(found, sign);
      const now = found.values.content ?? "";
      expect(now.startsWith(before)).toBe(true);
      expect(now).not.toMatch(/[\ud800-\udbff]$/);
      before = now;
    }
    expect(before).toBe("a😀bé\n");
  });

  it("say whether a member has come to its end", () => {
    const half = read(NO_MEMBERS, '{"id": "repo');
    expect([half.values.id, whole(half, "id")]).toEqual(["repo", null]);
    const done = read(half, 'rt"');
    expect([whole(done, "id"), whole(done, "content")]).toEqual(["report", null]);
  });

  it("are the last ones when a name comes twice", () => {
    expect(inPieces('{"id": "a", "id": "b"}', 3).values).toEqual({ id: "b" });
  });

  it.each(["", "[]", '"text"', "null", '["a", "b"]', '{"a" "b"}', '{"a": \\u12"}', '}}}{"id": "x"', '{"a": "\\uZZZZ', '{"a": "\\ud83d\\n\\ud83dx"'])("do not fail for %s", (text) => {
    expect(() => [1, 2, 100].map((width) => inPieces(text, width))).not.toThrow();
  });

  it("show half a character that stays alone as a mark", () => {
    expect(inPieces('{"a": "\\ud83d\\n\\ud83dx\\ude00"}', 1).values).toEqual({ a: "\ufffd\n\ufffdx\ufffd" });
  });

  it("may have any name", () => {
    const found = read(NO_MEMBERS, '{"__proto__": "x", "constructor": "y"}');
    expect(Object.entries(found.values)).toEqual([["__proto__", "x"], ["constructor", "y"]]);
    expect(whole(NO_MEMBERS, "constructor")).toBe(null);
  });

  it("are bounded in number", () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`k${n}`, "v"]));
    expect(Object.keys(inPieces(JSON.stringify(many), 16).values)).toHaveLength(32);
  });

  it("leave the state before them as it was", () => {
    const half = read(NO_MEMBERS, '{"id": "a');
    read(half, "b");
    expect(half.values).toEqual({ id: "a" });
    expect(NO_MEMBERS.values).toEqual({});
  });
});
