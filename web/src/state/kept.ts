// What this browser keeps. A browser that keeps nothing (private windows, full disks) must not break the page.

const PREFIX = "caesura.";

/** The browser keeps something for all tabs; a tab keeps its own until it is closed, also over a reload. */
type Where = "browser" | "tab";

/** Throws where the browser forbids it. */
const storeOf = (where: Where): Storage => (where === "tab" ? sessionStorage : localStorage);

export function kept(name: string, where: Where = "browser"): string | null {
  try {
    return storeOf(where).getItem(PREFIX + name);
  } catch {
    return null;
  }
}

/** Gives whether the browser has stored it. */
export function keep(name: string, value: string | null, where: Where = "browser"): boolean {
  try {
    if (value === null) storeOf(where).removeItem(PREFIX + name);
    else storeOf(where).setItem(PREFIX + name, value);
    return true;
  } catch {
    return false;
  }
}

/** The names of everything of this kind: `namesOf("draft.", "tab")`. */
export function namesOf(start: string, where: Where): string[] {
  try {
    return Object.keys(storeOf(where)).flatMap((name) => (name.startsWith(PREFIX + start) ? [name.slice(PREFIX.length)] : []));
  } catch {
    return [];
  }
}

/** Removes everything of this kind: `drop("draft.", "browser")`. */
export function drop(start: string, where: Where): void {
  for (const name of namesOf(start, where)) keep(name, null, where);
}

/** Tells when another tab has changed what is kept under this name. */
export function onKept(name: string, listener: (value: string | null) => void): void {
  addEventListener("storage", (event) => {
    // Without a key everything was removed.
    if (event.key === PREFIX + name || event.key === null) listener(event.newValue);
  });
}
