import { describe, expect, it } from "vitest";

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { ApiError } from "../api/client";
import { failureText, refusalText } from "./faults";
import { words } from "./words";

const PACKAGE = join(import.meta.dirname, "../../../src/caesura");
const codesIn = (file: string): string[] => [...readFileSync(join(PACKAGE, file), "utf8").matchAll(/^ {4}code(?:: ClassVar\[str\])? = "(\w+)"/gm)].map((found) => found[1] ?? "");
/** These never reach a page, or their text says what no code can. */
const OTHERS = new Set(["bad_input", "bad_answer", "length_required", "workspaces_full", "fenced", "stop_requested", "unwritable", "codec", "unknown_version", "startup", "failed"]);

describe.each(["en", "zh"] as const)("in %s", (language) => {
  const texts = words(language);

  it.each(codesIn("core/errors.py").filter((code) => !OTHERS.has(code)))("the refusal %s has words of the page", (code) => {
    expect(refusalText(new ApiError(400, code, "raw words"), texts)).not.toMatch(/raw words/i);
  });

  it.each([...codesIn("engine/failures.py"), "model_unavailable"].filter((code) => code !== "failed"))("the failure %s has words of the page", (code) => {
    expect(failureText(code, "raw words", texts)).not.toMatch(/raw words/i);
  });
});

it("what has no code of its own is said in the server's words, as a sentence", () => {
  expect(refusalText(new ApiError(400, "bad_input", "title is empty"), words("zh"))).toBe("Title is empty.");
  expect(refusalText(new ApiError(400, "toString", "odd"), words("en"))).toBe("Odd.");
  expect(refusalText(new ApiError(400, "bad_answer", "args do not fit"), words("zh"))).toBe("回答与问题不符。 (args do not fit)");
  expect(failureText("failed", "it broke", words("en"))).toBe("It broke.");
  expect(failureText(null, null, words("en"))).toBe("");
});

it("a server that does not answer is told as that", () => {
  expect(refusalText(new ApiError(0, "unreachable", "Failed to fetch"), words("zh"))).toBe("服务器没有响应。");
  expect(refusalText(new ApiError(502, "", "<html>"), words("en"))).toBe("The server does not answer.");
});
