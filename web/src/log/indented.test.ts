import { expect, test } from "vitest";

import { grownLength, indented } from "./indented";

test("JSON gets line breaks", () => {
  expect(indented({ a: [1, "x"] })).toBe('{\n  "a": [\n    1,\n    "x"\n  ]\n}');
});

test("deep nesting stays on one line: it would become thousands of times as long", () => {
  const text = "[".repeat(4000) + "]".repeat(4000);
  expect(indented(JSON.parse(text))).toBe(text);
});

test.each([[{ a: [1, 'x",[', { b: null }], c: "\\" }], [[[["a", 1]]]], ["words"]])("the length of %j is known before", (value) => {
  expect(grownLength(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2).length);
});
