// What a person sets for this browser: language, theme, the sidebar.
import { create } from "zustand";

import { learnAll, type Language } from "../words/words";
import { keep, kept } from "./kept";

export type Theme = "system" | "light" | "dark";

interface Settings {
  language: Language;
  theme: Theme;
  sideHidden: boolean;
}

const DARK = "(prefers-color-scheme: dark)";

function languageAtFirst(): Language {
  const chosen = kept("language");
  if (chosen === "en" || chosen === "zh") return chosen;
  return /^zh\b/i.test(navigator.language) ? "zh" : "en";
}

function themeAtFirst(): Theme {
  const chosen = kept("theme");
  return chosen === "light" || chosen === "dark" ? chosen : "system";
}

export const useSettings = create<Settings>()(() => ({ language: languageAtFirst(), theme: themeAtFirst(), sideHidden: kept("side") === "hidden" }));

export async function setLanguage(language: Language): Promise<void> {
  keep("language", language);
  await learnAll(language).catch(() => undefined);
  useSettings.setState({ language });
  paint();
}

export function setTheme(theme: Theme): void {
  keep("theme", theme);
  useSettings.setState({ theme });
  paint();
}

export function toggleSide(): void {
  const sideHidden = !useSettings.getState().sideHidden;
  keep("side", sideHidden ? "hidden" : null);
  useSettings.setState({ sideHidden });
}

export function isDark(theme: Theme): boolean {
  return theme === "dark" || (theme === "system" && matchMedia(DARK).matches);
}

/** Puts language and theme on the document. */
export function paint(): void {
  const { language, theme } = useSettings.getState();
  document.documentElement.lang = language === "zh" ? "zh-Hans" : "en";
  document.documentElement.dataset.theme = isDark(theme) ? "dark" : "light";
}

/** Follows the system while the person has chosen no theme. */
export function followSystem(): void {
  matchMedia(DARK).addEventListener("change", paint);
  paint();
}
