import { describe, expect, it } from "vitest";

import { ExactNumber, readJson } from "../../api/json";
import { choiceText, readAsked } from "./asked";

const NONE = { words: "", choices: [], members: [], other: undefined };

describe("what a graph asks", () => {
  it("is a plain text", () => {
    expect(readAsked("Delete all rows?")).toEqual({ ...NONE, words: "Delete all rows?" });
  });

  it("has its words in the same member for the page and for the server", () => {
    const names = ["question", "message", "prompt", "instruction", "description", "text", "title", "info", "task"];
    for (const [index, name] of names.entries()) {
      const value = Object.fromEntries(names.slice(index).reverse().map((item) => [item, `the ${item}`]));
      expect(readAsked({ ...value, other: 1 }).words).toBe(`the ${name}`);
    }
  });

  it("takes no blank text and no other value for words, and keeps every other member", () => {
    expect(readAsked({ question: " ", message: 4, prompt: "Go on?", draft: "…" })).toEqual({
      ...NONE,
      words: "Go on?",
      members: [
        ["question", " "],
        ["message", 4],
        ["draft", "…"],
      ],
    });
  });

  it("is nothing, if the value is empty", () => {
    for (const value of [null, undefined, "", " \n", [], {}]) expect(readAsked(value)).toEqual(NONE);
  });

  it("is shown as it is, if it has no members", () => {
    for (const value of [0, false, ["a"], [{ question: "Which?" }]]) expect(readAsked(value)).toEqual({ ...NONE, other: value });
    expect(readAsked(readJson("12345678901234567890"))).toEqual({ ...NONE, other: new ExactNumber("12345678901234567890") });
  });

  it("is one text, if it has very many members", () => {
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`n${n}`, n]));
    expect(readAsked({ question: "Which?", ...many })).toEqual({ ...NONE, words: "Which?", other: many });
  });

  it("is not mistaken for what every object has", () => {
    const value = readJson('{"__proto__": {"question": "No"}, "constructor": "x"}');
    expect(readAsked(value).words).toBe("");
    expect(readAsked(value).members.map(([name]) => name)).toEqual(["__proto__", "constructor"]);
  });
});

describe("the answers that a graph offers", () => {
  it("are texts and numbers under choices or options", () => {
    expect(readAsked({ question: "Which?", choices: ["a", "b"] })).toEqual({ ...NONE, words: "Which?", choices: ["a", "b"] });
    expect(readAsked({ options: [1, "two", 3.5] })).toEqual({ ...NONE, choices: [1, "two", 3.5] });
    const { choices } = readAsked(readJson('{"choices": [12345678901234567890, 2]}'));
    expect(choices.map(choiceText)).toEqual(["12345678901234567890", "2"]);
  });

  it("are a member like any other, if they cannot be chosen from", () => {
    for (const options of [[], ["a", ""], ["a", { label: "b" }], [true, false], "a or b", ["x".repeat(201)], Array.from({ length: 51 }, (_, n) => n)])
      expect(readAsked({ options })).toEqual({ ...NONE, members: [["options", options]] });
  });

  it("are a member like any other, if two of them look alike", () => {
    for (const choices of [["1", 1], ["a", "a"], ["a", "a "]]) expect(readAsked({ choices }).choices).toEqual([]);
    expect(readAsked({ choices: ["1", 1], options: [1, 2] })).toEqual({ ...NONE, choices: [1, 2], members: [["choices", ["1", 1]]] });
  });
});
