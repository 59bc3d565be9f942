import { describe, expect, it } from "vitest";

import { breaksAfter, isTangled, strands, untangled } from "./strands";

describe("nodes of a text", () => {
  it("are places for a break where a long line has no blanks and only a dictionary tells its words", () => {
    for (const letter of ["ก็", "ກ", "\u1000", "\u1780\u17d2"]) expect(strands(letter.repeat(20_000)).every(breaksAfter)).toBe(true);
    expect(strands("กก\u00a0".repeat(9000)).every(breaksAfter)).toBe(true);
    for (const text of ["中文".repeat(900), "Слово".repeat(900), "ประเทศไทยรวมเลือดเนื้อ ".repeat(90)]) expect(strands(text).some(breaksAfter)).toBe(false);
  });

  it("are one for words, and for a long line of letters that every font has", () => {
    for (const text of ["", "words", "x".repeat(900_000), "数到两百。".repeat(50)]) expect(strands(text)).toEqual([text]);
  });

  it("are short where the font may change, and together they are the text", () => {
    const text = "中a ".repeat(90_000);
    const found = strands(text);
    expect(Math.max(...found.map((node) => node.length))).toBeLessThanOrEqual(500);
    expect(found.length).toBeLessThan(700);
    expect(found.join("")).toBe(text);
  });

  it("cut no character, no letter from its marks and no family of emoji", () => {
    for (const one of ["😀", "e\u0301", "👨‍👩‍👧", "ב\u05bc\u05b0"])
      for (const before of ["", "x", "xy"]) {
        const text = before + one.repeat(1000);
        const found = strands(text);
        expect(found.join("")).toBe(text);
        expect(found.length).toBeGreaterThan(1);
        for (const node of found.slice(1)) expect(node.startsWith(one)).toBe(true);
      }
    // There is an end to that.
    expect(Math.max(...strands(`e${"\u0301".repeat(5000)}`).map((node) => node.length))).toBe(500);
  });
});

describe("lines of letters in both directions", () => {
  it("stay as they are in texts that somebody reads", () => {
    const text = `${"שלום hello 12 ".repeat(15)}\n`.repeat(500);
    expect(untangled(text).map((lines) => lines.text).join("")).toBe(text);
    expect(isTangled(text)).toBe(false);
    expect(isTangled("مرحبا ".repeat(50_000))).toBe(false);
  });

  it("stand in one order where they turn around too often, and the others stay", () => {
    const hard = "אa ".repeat(90_000);
    expect(untangled(`שלום\n${hard}\nשלום\nשלום`)).toEqual([
      { text: "שלום\n", tangled: false },
      { text: `${hard}\n`, tangled: true },
      { text: "שלום\nשלום", tangled: false },
    ]);
    expect(isTangled(hard)).toBe(true);
  });

  it("are drawn in groups if there are many", () => {
    const text = `${"אa ".repeat(300)}\n`.repeat(300);
    const found = untangled(text);
    expect(found.map((lines) => lines.text).join("")).toBe(text);
    expect(found.some((lines) => lines.tangled)).toBe(false);
    expect(found.length).toBeGreaterThanOrEqual(300);
    expect(isTangled(text)).toBe(true);
  });
});
