import { describe, expect, test } from "vitest";

import { folded } from "./folds";
import { difference, type Row } from "./rows";

const show = (row: Row) => {
  const text = (line: Row["before"]) => line?.pieces.map((piece) => (piece.changed ? `[${piece.text}]` : piece.text)).join("") ?? null;
  return row.kind === "same" ? ` ${text(row.before)}` : [text(row.before), text(row.after)];
};

describe("difference", () => {
  test("marks the words that changed in a line", () => {
    const found = difference('"build": "webpack --mode production",\n"test": 1\n', '"build": "vite build",\n"test": 1\n');
    expect(found.rows.map(show)).toEqual([['"build": "[webpack --mode production]",', '"build": "[vite build]",'], ' "test": 1']);
    expect([found.added, found.removed]).toEqual([1, 1]);
  });

  test("counts lines of each text on its own", () => {
    const found = difference("a\nb\nc\n", "a\nnew\nb\nc\n");
    expect(found.rows.map((row) => [row.before?.number ?? null, row.after?.number ?? null])).toEqual([[1, 1], [null, 2], [2, 3], [3, 4]]);
  });

  test("shows a new file as added lines", () => {
    const found = difference("", "a\nb");
    expect([found.added, found.removed, found.rows.length]).toEqual([2, 0, 2]);
  });

  test("shows lines that have nothing in common without marks", () => {
    expect(difference("alpha beta\n", "unlike in every way\n").rows.map(show)).toEqual([["alpha beta", "unlike in every way"]]);
  });

  test("shows lines that have only quotes and brackets in common without marks", () => {
    const rows = difference('"@babel/core": "^7.26.0",\n', '"@vitejs/plugin-react": "^5.0.0",\n').rows.map(show);
    expect(rows).toEqual([['"@babel/core": "^7.26.0",', '"@vitejs/plugin-react": "^5.0.0",']]);
  });

  test("marks single characters of Chinese text", () => {
    expect(difference("冷构建九十秒\n", "冷构建八十秒\n").rows.map(show)).toEqual([["冷构建[九]十秒", "冷构建[八]十秒"]]);
  });

  test("keeps the common ends of long texts that differ everywhere else", () => {
    const text = (name: string) => ["same", ...Array.from({ length: 9000 }, (_, i) => `${name} ${i}`), "end"].join("\n");
    const found = difference(text("a"), text("b"));
    expect([found.added, found.removed]).toEqual([9000, 9000]);
    expect([found.rows[0]?.kind, found.rows.at(-1)?.kind]).toEqual(["same", "same"]);
  });

  test("every line of both texts is in exactly one row", () => {
    const before = Array.from({ length: 60 }, (_, i) => `line ${i % 7}`).join("\n");
    const after = Array.from({ length: 70 }, (_, i) => `line ${i % 5}`).join("\n");
    const rows = difference(before, after).rows;
    const text = (side: "before" | "after") => rows.flatMap((row) => row[side]?.pieces.map((piece) => piece.text).join("") ?? []).join("\n");
    expect(text("before")).toBe(before);
    expect(text("after")).toBe(after);
  });
});

describe("folded", () => {
  test("folds long unchanged parts and keeps two lines beside a change", () => {
    const before = Array.from({ length: 30 }, (_, i) => `l${i}`);
    const after = [...before];
    after[15] = "new";
    const parts = folded(difference(before.join("\n"), after.join("\n")).rows);
    expect(parts.map((part) => [part.kind, part.rows.length])).toEqual([["fold", 13], ["rows", 2], ["rows", 1], ["rows", 2], ["fold", 12]]);
  });
});
