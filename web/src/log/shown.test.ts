import { describe, expect, it } from "vitest";

import { shown, shownLine } from "./shown";

describe("text before a decision", () => {
  it("stays as it is in any language", () => {
    for (const text of ["npm install && ls -la", "数到两百。", "Zoë – “ça va”", "مرحبا", "a\tb\nc", "👍 日本語"]) expect(shown(text)).toBe(text);
  });

  it("shows what would be hidden", () => {
    expect(shown("rm\u202e -rf")).toBe("rm\\u202e -rf");
    expect(shown("a\u200bb\u0000\r\u00a0\u3000\u{e0041}\ufe0f")).toBe("a\\u200bb\\x00\\r\\xa0\\u3000\\U000e0041\\ufe0f");
  });

  it("is one line where only one is shown", () => {
    expect(shownLine("cd /tmp\nrm x")).toBe("cd /tmp\\nrm x");
  });
});
