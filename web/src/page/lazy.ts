// What the first paint does not need comes a moment later, each in a file of its own.
import { lazy } from "react";

import { renew } from "../state/renewal";
import { useSettings } from "../state/settings";
import { learnAll } from "../words/words";
import { painted } from "./painted";

/** A part that is not there any more, because the server was renewed, comes with a new page. */
export const bare =
  <T>(load: () => Promise<T>) =>
  (): Promise<T> =>
    load().catch(async (error: unknown) => {
      // Nothing is drawn in its place while the page is loaded anew.
      if (await renew()) return new Promise<T>(() => undefined);
      throw error;
    });

/** A part with the styles and texts that all parts share. Those styles are asked for first: they come before its own. */
const part = <T>(load: () => Promise<T>): (() => Promise<T>) =>
  bare(async () => {
    const [, , module] = await Promise.all([import("./dress"), learnAll(useSettings.getState().language), load()]);
    return module;
  });

const asks = part(() => import("./asks/Ask"));
const rich = part(() => import("../rich"));
export const turns = part(() => import("./Chunk"));
export type Turns = Awaited<ReturnType<typeof turns>>;

export const Ask = lazy(() => asks().then((module) => ({ default: module.Ask })));
export const Markdown = lazy(() => rich().then((module) => ({ default: module.Markdown })));
export const Diff = lazy(() => rich().then((module) => ({ default: module.Diff })));
export const Documents = lazy(() => part(() => import("../rich/documents/Documents"))().then((module) => ({ default: module.Documents })));
export const Connect = lazy(() => part(() => import("./Connect"))().then((module) => ({ default: module.Connect })));
const menus = part(() => import("./menus"));
export const AgentMenu = lazy(() => menus().then((module) => ({ default: module.AgentMenu })));
export const Rename = lazy(() => menus().then((module) => ({ default: module.Rename })));
export const ConversationMenu = lazy(() => menus().then((module) => ({ default: module.ConversationMenu })));
export const Panel = lazy(() => part(() => import("./Panel"))().then((module) => ({ default: module.Panel })));
export const Rescue = lazy(() => bare(() => import("./Rescue"))().then((module) => ({ default: module.Rescue })));
export const Written = lazy(() => bare(() => import("./useWritten"))().then((module) => ({ default: module.Written })));
export const Inbox = lazy(() => part(() => import("./Inbox"))().then((module) => ({ default: module.Inbox })));
export const Dialogs = lazy(() => part(() => import("./Dialogs"))().then((module) => ({ default: module.Dialogs })));
export const AgainDialog = lazy(() => part(() => import("./AgainDialog"))().then((module) => ({ default: module.AgainDialog })));
export const Door = lazy(() => bare(() => import("./Door"))().then((module) => ({ default: module.Door })));
export const SettingsMenu = lazy(() => part(() => import("./SettingsMenu"))().then((module) => ({ default: module.SettingsMenu })));

/** Fetches what will be needed soon, once the page is there. Offline it could not be fetched any more. */
export function prefetch(): void {
  const soon = [rich, asks, menus, () => import("./Panel"), () => import("./Dialogs"), () => import("./AgainDialog"), () => import("./Inbox"), () => import("./SettingsMenu"), () => import("./Connect")];
  void painted().then(() =>
    setTimeout(() => {
      for (const load of soon) void load().catch(() => undefined);
    }, 300),
  );
}
