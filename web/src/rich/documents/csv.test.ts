import { expect, test } from "vitest";

import { numeric, parse } from "./csv";

test("quoted cells may have separators, quotes and line breaks in them", () => {
  const { rows } = parse('a,"b, c","d ""e"""\r\n"two\nlines",,\n', 10);
  expect(rows).toEqual([["a", "b, c", 'd "e"'], ["two\nlines", "", ""]]);
});

test("a last line without a break counts, an empty text has no row", () => {
  expect(parse("a\nb", 10)).toEqual({ rows: [["a"], ["b"]], total: 2 });
  expect(parse("", 10)).toEqual({ rows: [], total: 0 });
});

test("rows beyond the wanted number are counted", () => {
  const text = Array.from({ length: 5000 }, (_, i) => `${i},x`).join("\n");
  const found = parse(text, 100);
  expect([found.rows.length, found.total]).toEqual([100, 5000]);
});

test("semicolons and tabs separate where the first line has more of them", () => {
  expect(parse("a;b,c;d\n1;2;3", 10).rows).toEqual([["a", "b,c", "d"], ["1", "2", "3"]]);
  expect(parse("a\tb\n1\t2", 10).rows[1]).toEqual(["1", "2"]);
});

test("an open quote takes the rest and loses nothing", () => {
  expect(parse('a,"b\nc', 10).rows).toEqual([["a", "b\nc"]]);
});

test("columns of numbers are found", () => {
  expect(numeric([["name", "sum", "part"], ["a", "1,200.5", "7 %"], ["b", "-3", ""]])).toEqual([false, true, true]);
});
