import { createContext, useContext, useMemo } from "react";
import { create } from "zustand";

import type { ENGLISH } from "./english";
import type { ENGLISH as LATER_ENGLISH } from "./later/english";

export type Language = "en" | "zh";
export type Key = keyof typeof ENGLISH | keyof typeof LATER_ENGLISH;

type Texts = Partial<Record<Key, string>>;
type Load = Record<Language, () => Promise<Texts>>;

// Each is a file of its own: nobody loads the texts of the other language.
const FIRST: Load = {
  en: () => import("./english").then((module) => module.ENGLISH),
  zh: () => import("./chinese").then((module) => module.CHINESE),
};
const LATER: Load = {
  en: () => import("./later/english").then((module) => module.ENGLISH),
  zh: () => import("./later/chinese").then((module) => module.CHINESE),
};
const OTHER: Record<Language, Language> = { en: "zh", zh: "en" };

/** The texts that are here. */
const useTexts = create<Record<Language, Texts>>()(() => ({ en: {}, zh: {} }));

/** Loads the texts that the first paint needs, if they are not here yet. Where those of the language cannot be had, the other
 * one is better than none. */
export async function learn(language: Language): Promise<void> {
  await take(FIRST, language).catch(() => take(FIRST, OTHER[language]));
}

/** Loads all texts of a language. */
export async function learnAll(language: Language): Promise<void> {
  await Promise.all([learn(language), take(LATER, language).catch(() => take(LATER, OTHER[language]))]);
}

async function take(texts: Load, language: Language): Promise<void> {
  const found = await texts[language]();
  const { [language]: known } = useTexts.getState();
  if (Object.keys(found).some((key) => !(key in known))) useTexts.setState({ [language]: { ...known, ...found } });
}

/** A text of the page, with its gaps; empty until it is here. */
export function textOf(key: Key, language: Language): string {
  const texts = useTexts.getState();
  return texts[language][key] ?? texts[OTHER[language]][key] ?? "";
}

/** Fills {0}, {1}, … of a text. */
export function fill(text: string, values: readonly (string | number)[]): string {
  return text.replace(/\{(\d)\}/g, (_, n: string) => String(values[Number(n)] ?? ""));
}

export interface Words {
  language: Language;
  /** A text of the page. */
  say: (key: Key, ...values: (string | number)[]) => string;
  /** A number as people write it. */
  count: (value: number) => string;
  /** The time of day. */
  clock: (at: number) => string;
  /** How long something took or waits, from milliseconds. */
  span: (ms: number) => string;
}

function clockOf(language: Language): (at: number) => string {
  const format = new Intl.DateTimeFormat(language === "zh" ? "zh-CN" : "en-GB", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  return (at) => format.format(at);
}

export function words(language: Language): Words {
  const numbers = new Intl.NumberFormat(language === "zh" ? "zh-CN" : "en-US");
  const say: Words["say"] = (key, ...values) => fill(textOf(key, language), values);
  const span = (ms: number): string => {
    if (ms < 1000) return say("msUnit", Math.max(0, Math.round(ms)));
    const seconds = ms / 1000;
    if (seconds < 10) return say("secondsUnit", seconds.toFixed(1).replace(/\.0$/, ""));
    if (seconds < 59.5) return say("secondsUnit", Math.round(seconds));
    const minutes = Math.floor(Math.round(seconds) / 60);
    if (minutes < 60) {
      const rest = Math.round(seconds) % 60;
      return rest === 0 ? say("minutesUnit", minutes) : say("minutesSecondsUnit", minutes, rest);
    }
    const hours = Math.floor(minutes / 60);
    if (hours < 48) return minutes % 60 === 0 ? say("hoursUnit", hours) : say("hoursMinutesUnit", hours, minutes % 60);
    return say("daysUnit", Math.floor(hours / 24));
  };
  return { language, say, count: (value) => numbers.format(value), clock: clockOf(language), span };
}

export const WordsContext = createContext<Words>(words("en"));

/** The words of a language, which are others when more texts have come. */
export function useLanguage(language: Language): Words {
  const texts = useTexts();
  // The texts that are here are all that a word depends on.
  // oxlint-disable-next-line react/exhaustive-deps
  return useMemo(() => words(language), [language, texts]);
}

/** The texts in the language of the page. */
export function useWords(): Words {
  return useContext(WordsContext);
}
