import { expect, test } from "vitest";

import { fitsField } from "./strain";

test.each([
  ["thousands of accents on a letter", `ls a${"\u0301".repeat(20_000)}`],
  ["accents on every letter of a long line", "a\u0301".repeat(25_000)],
  ["characters that are not drawn", "a\x7f".repeat(400_000)],
  ["letters of both directions, turned around", "\u0644\u0627\u202ea\u202c".repeat(60_000)],
  ["letters of both directions", "\u05d0a".repeat(100_000)],
  ["numbers among letters from the right", "\u05d01".repeat(20_000)],
  ["letters of many fonts in one line", "\u4e2da ".repeat(60_000)],
  ["a very long line from the right", "\u0645\u0631\u062d\u0628\u0627 ".repeat(60_000)],
  ["a long line of Thai without a blank", "\u0e01\u0e47".repeat(16_000)],
  ["many lines of both directions", `${"\u05d0a".repeat(500)}\n`.repeat(500)],
])("no field can hold %s", (_, text) => {
  expect(fitsField(text)).toBe(false);
});

test.each([
  ["a long line", "x".repeat(900_000)],
  ["long lines of Thai", `${`${"\u0e01".repeat(50)} `.repeat(180)}\n`.repeat(20)],
  ["words", "some words here\n".repeat(50_000)],
  ["Chinese with wide blanks", "\u3000\u6c49\u5b57".repeat(50_000)],
  ["Chinese with English words", `${"\u6c49\u5b57 word\uff0c".repeat(100)}\n`.repeat(500)],
  ["Polish and Russian", "za\u017c\u00f3\u0142\u0107 \u2013 \u043f\u0440\u0438\u0432\u0435\u0442 ".repeat(20_000)],
  ["Arabic in paragraphs", `${"\u0645\u0631\u062d\u0628\u0627 ".repeat(80)}\n`.repeat(500)],
  ["Hebrew with English words and numbers", `${"\u05e9\u05dc\u05d5\u05dd hello 12 ".repeat(15)}\n`.repeat(500)],
  ["Hindi in paragraphs", `${"\u0928\u092e\u0938\u094d\u0924\u0947 ".repeat(80)}\n`.repeat(500)],
  ["the line ends of another system", "a line\r\n".repeat(50_000)],
  ["families of emoji", "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}".repeat(5_000)],
  ["a few hidden characters", "a\u202eb\u200bc"],
])("a field can hold %s", (_, text) => {
  expect(fitsField(text)).toBe(true);
});
