import { describe, expect, it } from "vitest";

import { revised, revision } from "./revision";

const BASE = "one two three two";

describe("a text that is replaced", () => {
  it("is marked as far as it has arrived and stands in one place", () => {
    expect(revision(BASE, [{ old: "t", whole: false, new: null }])).toBeNull();
    expect(revision(BASE, [{ old: "two t", whole: false, new: null }])).toEqual({ before: "one ", old: "two t", new: null, after: "hree two" });
    expect(revised(BASE, [{ old: "two t", whole: false, new: null }])).toBe(BASE);
  });

  it("stays until the first word of the new one has come", () => {
    const update = { old: "two three", whole: true };
    expect(revised(BASE, [{ ...update, new: null }])).toBe(BASE);
    expect(revised(BASE, [{ ...update, new: "" }])).toBe("one  two");
    expect(revised(BASE, [{ ...update, new: "2 3" }])).toBe("one 2 3 two");
  });

  it("follows the updates before it", () => {
    const updates = [
      { old: "three", whole: true, new: "four" },
      { old: "four", whole: true, new: "five" },
    ];
    expect(revision(BASE, updates)).toEqual({ before: "one two ", old: "four", new: "five", after: " two" });
    expect(revised(BASE, updates)).toBe("one two five two");
  });

  it("has no known place if it does not stand there word for word", () => {
    expect(revision(BASE, [{ old: "tree", whole: true, new: "x" }])).toBeNull();
    expect(revised(BASE, [{ old: "tree", whole: true, new: "x" }])).toBe(BASE);
    expect(revision(BASE, [{ old: "", whole: true, new: "x" }])).toBeNull();
    expect(revision(BASE, [])).toBeNull();
  });
});
