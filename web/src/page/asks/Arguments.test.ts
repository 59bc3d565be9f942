import { expect, test } from "vitest";

import { argumentsFrom, textsOf } from "./Arguments";

test("every argument is sent as it came, whatever its name is", () => {
  const sent = '{"id":"d","__proto__":{"x":1},"constructor":"c","toString":null,"inner":{"__proto__":"y"}}';
  const before = JSON.parse(sent) as Record<string, unknown>;
  expect(JSON.stringify(argumentsFrom(before, textsOf(before)).args)).toBe(sent);
});
