import { expect, test } from "vitest";

import { trueTarget } from "./safety";

test.each([
  ["https://good.example", "https://evil.example/a", "evil.example"],
  ["https://good.example", "https://good.example@evil.example", "evil.example"],
  ["good.example/sign-in", "https://evil.example", "evil.example"],
  ["www.good.example", "https://good.example.evil.example", "good.example.evil.example"],
  ["See https://good.example, please", "https://evil.example", "evil.example"],
  ["ht\u200btps://good.example", "https://evil.example:444", "evil.example:444"],
  ["good。example", "https://evil.example", "evil.example"],
  ["www｡good｡example", "https://evil.example", "evil.example"],
  ["me@good.example", "mailto:me@evil.example", "me@evil.example"],
  ["https://good.example", "mailto:me@evil.example", "me@evil.example"],
])("the words %j of a link to %j are not trusted", (words, address, target) => {
  expect(trueTarget(words, address)).toBe(target);
});

test.each([
  ["https://good.example/a", "https://good.example/b"],
  ["good.example", "https://www.good.example"],
  ["me@good.example", "mailto:me@good.example"],
  ["the guide", "https://good.example"],
  ["README.md", "https://good.example"],
  ["Node.js 20.1", "https://good.example"],
  ["好的。谢谢", "https://good.example"],
  ["e.g. this", "https://good.example"],
])("the words %j of a link to %j need no word about it", (words, address) => {
  expect(trueTarget(words, address)).toBeNull();
});
