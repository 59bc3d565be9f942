import { expect, test } from "vitest";

import { readJson, writeJson } from "../../api/json";
import { json } from "../tools";
import { argumentsFrom, textsOf, withBreaks } from "./Arguments";

test("every argument is sent as it came, whatever its name is", () => {
  const sent = '{"id":"d","__proto__":{"x":1},"constructor":"c","toString":null,"inner":{"__proto__":"y"}}';
  const before = JSON.parse(sent) as Record<string, unknown>;
  expect(JSON.stringify(argumentsFrom(before, textsOf(before)).args)).toBe(sent);
});

test("a number with many digits is shown, edited and sent with all of them", () => {
  const sent = '{"account":90071992547409931,"note":"rent"}';
  const before = readJson(sent) as Record<string, unknown>;
  expect(json(before)).toContain("90071992547409931");
  const texts = textsOf(before);
  expect(texts.account).toBe("90071992547409931");
  expect(writeJson(argumentsFrom(before, texts).args)).toBe(sent);
  expect(writeJson(argumentsFrom(before, { ...texts, account: "90071992547409932" }).args)).toBe('{"account":90071992547409932,"note":"rent"}');
});

test.each([
  ["one\r\ntwo\r\n", "one\ntwo!\n", "one\r\ntwo!\r\n"],
  ["one\r\ntwo\r\n", "one\nnew\ntwo\n", "one\r\nnew\r\ntwo\r\n"],
  ["one\r\ntwo\nthree\rfour", "ONE\ntwo\nthree\nfour", "ONE\r\ntwo\nthree\rfour"],
  ["one\ntwo\rthree", "one\nand\ntwo\nthree", "one\nand\ntwo\rthree"],
  ["\r\n\r\n", "\n", "\r\n"],
  ["a\r\nb", "", ""],
  ["one\ntwo", "one\n\ntwo", "one\n\ntwo"],
])("an edited text keeps its line breaks: %j, %j", (before, typed, after) => {
  expect(withBreaks(before, typed)).toBe(after);
});

test("very many arguments are edited as one text, which must be an object", () => {
  const before = readJson(`{"__proto__":90071992547409931,${Array.from({ length: 20_000 }, (_, n) => `"n${n}":"v"`).join()}}`) as Record<string, unknown>;
  const texts = textsOf(before);
  expect(Object.keys(texts)).toHaveLength(1);
  expect(argumentsFrom(before, texts)).toEqual({ args: before, wrong: null });
  expect(writeJson(argumentsFrom(before, texts).args)).toBe(writeJson(before));
  for (const text of ["[1]", "null", "90071992547409931", "{"]) expect(argumentsFrom(before, { "": text })).toEqual({ args: before, wrong: "" });
});
