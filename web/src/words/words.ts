import { createContext, useContext } from "react";

import { ENGLISH, type Key } from "./english";

export type Language = "en" | "zh";
export type { Key };

let chinese: Record<Key, string> | undefined;

/** Loads the texts of a language, if they are not here yet. English is always here. */
export async function learn(language: Language): Promise<void> {
  if (language === "zh") chinese ??= (await import("./chinese")).CHINESE;
}

/** A text of the page, with its gaps. */
export function textOf(key: Key, language: Language): string {
  return (language === "zh" ? (chinese ?? ENGLISH) : ENGLISH)[key];
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

/** The texts in the language of the page. */
export function useWords(): Words {
  return useContext(WordsContext);
}
