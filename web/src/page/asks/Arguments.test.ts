import { expect, test } from "vitest";

import { readJson, writeJson } from "../../api/json";
import { json } from "../tools";
import { argumentsFrom, textsOf } from "./Arguments";

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
