// A page that was loaded before the server was renewed: the parts that it has not loaded yet are gone.
import { HOME } from "../api/root";
import { isUnstored, storeAll } from "./drafts";
import { keep, kept } from "./kept";

/** The file with which the page begins. Its name changes with every build. */
const ENTRY = /<script type="module"[^>]*\ssrc="([^"]+)"/;
const RENEWED = "renewed";

/** A part of the page could not be loaded. If the server has a newer page, this one is loaded anew, once, as long as nothing that
 * was typed would be lost. Gives whether that happens. */
export async function renew(again: () => void = () => location.reload()): Promise<boolean> {
  const entry = await entryOf();
  const own = document.querySelector<HTMLScriptElement>("script[type=module][src]")?.getAttribute("src");
  if (entry === null || !own || entry === own || kept(RENEWED, "tab") === entry) return false;
  storeAll();
  if (isUnstored() || isTyping()) return false;
  if (!keep(RENEWED, entry, "tab")) return false;
  again();
  return true;
}

async function entryOf(): Promise<string | null> {
  try {
    const response = await fetch(HOME, { cache: "no-store", credentials: "same-origin" });
    const entry = response.ok ? ENTRY.exec(await response.text())?.[1] : undefined;
    // A page whose first file is missing would be worse than this one.
    return entry !== undefined && (await fetch(entry)).ok ? entry : null;
  } catch {
    return null;
  }
}

/** Whether there is text in a field that keeps no draft, such as the title of a conversation. */
function isTyping(): boolean {
  const field = document.activeElement;
  return field instanceof HTMLInputElement && field.value !== "" && field.closest("[data-ask], [data-card]") === null;
}
