import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { words } from "../words/words";
import { agentText, SHIPPED } from "./agents";

const FILES = join(__dirname, "../../../src/caesura/agents/builtin");

it.each(Object.entries(SHIPPED))("%s says in its file what the page knows of it", (name, { says, words: key }) => {
  expect(readFileSync(join(FILES, `${name}.yaml`), "utf-8")).toContain(`description: ${says}\n`);
  expect(agentText({ name, description: says }, words("en"))).toBe(words("en").say(key));
});

it("an operator's own words stay", () => {
  expect(agentText({ name: "assistant", description: "Ours" }, words("en"))).toBe("Ours");
});
