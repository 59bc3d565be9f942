import { describe, expect, it } from "vitest";

import * as chinese from "./chinese";
import * as english from "./english";
import * as laterChinese from "./later/chinese";
import * as laterEnglish from "./later/english";
import { words, type Key } from "./words";

const ENGLISH = { ...english.ENGLISH, ...laterEnglish.ENGLISH };
const CHINESE: Record<Key, string> = { ...chinese.CHINESE, ...laterChinese.CHINESE };

const gaps = (text: string): string[] => [...new Set(text.match(/\{\d\}/g) ?? [])].sort();

describe("the texts", () => {
  it.each(Object.entries(ENGLISH))("%s says the same in both languages", (key, english) => {
    const chinese = CHINESE[key as Key];
    expect(english).not.toBe("");
    expect(chinese).not.toBe("");
    expect(gaps(chinese)).toEqual(gaps(english));
  });

  it("are filled with values", () => {
    expect(words("en").say("usage", "3,912", "48")).toBe("3,912 tokens in, 48 out");
    expect(words("zh").say("keepLost", 4)).toBe("只是连接断了，内容没有丢失。4 秒后重连。");
  });
});

describe("a span", () => {
  it.each([
    [12, "12 ms"],
    [1400, "1.4 s"],
    [11_000, "11 s"],
    [59_700, "1 min"],
    [108_000, "1 min 48 s"],
    [130_000, "2 min 10 s"],
    [3_600_000, "1 h"],
    [300_000_000, "3 d"],
  ])("of %i ms is %s", (ms, text) => {
    expect(words("en").span(ms)).toBe(text);
  });
});
