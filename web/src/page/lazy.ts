// What the first paint does not need comes a moment later, each in a file of its own.
import { lazy } from "react";

const asks = () => import("./asks/Ask");
const rich = () => import("../rich");
export const turns = () => import("./Chunk");
export type Turns = Awaited<ReturnType<typeof turns>>;

export const Ask = lazy(() => asks().then((module) => ({ default: module.Ask })));
export const Markdown = lazy(() => rich().then((module) => ({ default: module.Markdown })));
export const Diff = lazy(() => rich().then((module) => ({ default: module.Diff })));
export const Documents = lazy(() => import("../rich/documents/Documents").then((module) => ({ default: module.Documents })));
export const Connect = lazy(() => import("./Connect").then((module) => ({ default: module.Connect })));
const menus = () => import("./menus");
export const AgentMenu = lazy(() => menus().then((module) => ({ default: module.AgentMenu })));
export const ConversationMenu = lazy(() => menus().then((module) => ({ default: module.ConversationMenu })));
export const Panel = lazy(() => import("./Panel").then((module) => ({ default: module.Panel })));
export const Rescue = lazy(() => import("./Rescue").then((module) => ({ default: module.Rescue })));
export const Inbox = lazy(() => import("./Inbox").then((module) => ({ default: module.Inbox })));
export const Dialogs = lazy(() => import("./Dialogs").then((module) => ({ default: module.Dialogs })));
export const AgainDialog = lazy(() => import("./AgainDialog").then((module) => ({ default: module.AgainDialog })));
export const Door = lazy(() => import("./Door").then((module) => ({ default: module.Door })));
export const SettingsMenu = lazy(() => import("./SettingsMenu").then((module) => ({ default: module.SettingsMenu })));

/** Fetches what will be needed soon, once the page is there. Offline it could not be fetched any more. */
export function prefetch(): void {
  setTimeout(() => {
    for (const part of [rich, asks, menus, () => import("./Panel"), () => import("./Dialogs"), () => import("./AgainDialog"), () => import("./Inbox"), () => import("./SettingsMenu"), () => import("./Connect")]) void part().catch(() => undefined);
  }, 300);
}
