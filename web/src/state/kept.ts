// What this browser keeps. A browser that keeps nothing (private windows, full disks) must not break the page.

const PREFIX = "caesura.";

export function kept(name: string): string | null {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}

/** Gives whether the browser has stored it. */
export function keep(name: string, value: string | null): boolean {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, value);
    return true;
  } catch {
    return false;
  }
}

/** Removes everything of this kind: `drop("draft.")`. */
export function drop(start: string): void {
  try {
    for (const name of Object.keys(localStorage)) if (name.startsWith(PREFIX + start)) localStorage.removeItem(name);
  } catch {
    // There is nothing to remove.
  }
}

/** Tells when another tab has changed what is kept under this name. */
export function onKept(name: string, listener: (value: string | null) => void): void {
  addEventListener("storage", (event) => {
    // Without a key everything was removed.
    if (event.key === PREFIX + name || event.key === null) listener(event.newValue);
  });
}
