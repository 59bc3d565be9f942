import { isValidElement } from "react";
import { expect, test } from "vitest";

import { strands } from "./strands";

test("a long line of Thai may be broken between its nodes, and stays the same text", () => {
  const text = "ก็".repeat(5000);
  const found = strands(text);
  expect(found.filter((node) => isValidElement(node) && node.type === "wbr")).toHaveLength(19);
  expect(found.filter((node) => typeof node === "string").join("")).toBe(text);
});
