import { readFileSync } from "node:fs";

import { expect, it } from "vitest";

import { generated } from "../../scripts/schema.mjs";

it("has types that are made from the document beside it", async () => {
  expect(readFileSync("src/api/schema.d.ts", "utf8")).toBe(await generated());
});
