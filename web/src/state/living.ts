// The pages of this browser that live. Each holds a lock until it is left, and the browser frees the lock of one that was closed or
// has crashed. So a page can tell whether the sender of a message is still there.
import { newKey } from "../api/client";

const NAME = "caesura.page.";
/** Milliseconds within which a living page answers, where there are no locks. */
const PATIENCE = 1000;

/** The name of this page. It is kept nowhere: a tab that is loaded anew, and the copy of a tab, are other pages. */
let me = newKey();
/** The pages that live because this one does, itself and those that it has taken over, each with what ends that. */
const held = new Map<string, () => void>();

export const thisPage = (): string => me;

/** From now on others know that this page lives. */
export function followLife(): void {
  show();
  addEventListener("pagehide", leave);
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted) show();
  });
}

/** Whether this page may go on with what another one, or an earlier one of this tab, has sent: it does not live any more. For
 * everybody else it lives again from then on, because this page does. */
export async function takeOver(page: string): Promise<boolean> {
  if (held.has(page)) return true;
  const locks = locksOf();
  if (locks) return hold(locks, page);
  if (await answers(page)) return false;
  held.set(page, () => undefined);
  return true;
}

/** Not there on a page that came by http from another machine. */
const locksOf = (): LockManager | undefined => (navigator as { locks?: LockManager }).locks;

function show(): void {
  const locks = locksOf();
  if (locks) void hold(locks, me);
  else if (typeof BroadcastChannel === "function") {
    const channel = new BroadcastChannel(NAME);
    channel.onmessage = ({ data }) => {
      if (held.has(data as string)) channel.postMessage(NAME + String(data));
    };
    held.set(me, () => channel.close());
  }
}

/** The browser may bring the page back later. Until then it counts as closed, and after that as another page: what it has sent may
 * have been taken over. A browser does not put a page away that holds a lock. */
function leave(): void {
  for (const release of held.values()) release();
  held.clear();
  me = newKey();
}

/** Holds the lock of a page until this one is left. False: another page holds it. */
function hold(locks: LockManager, page: string): Promise<boolean> {
  return new Promise((found) => {
    const asked = locks.request(NAME + page, { ifAvailable: true }, (lock) => {
      found(lock !== null);
      return lock ? new Promise<void>((release) => held.set(page, release)) : undefined;
    });
    // A page that is being left gets no lock.
    asked.catch(() => found(true));
  });
}

/** Asks the page itself. */
function answers(page: string): Promise<boolean> {
  if (typeof BroadcastChannel !== "function") return Promise.resolve(false);
  const channel = new BroadcastChannel(NAME);
  return new Promise((found) => {
    const end = (lives: boolean): void => {
      clearTimeout(timer);
      channel.close();
      found(lives);
    };
    const timer = setTimeout(() => end(false), PATIENCE);
    channel.onmessage = ({ data }) => {
      if (data === NAME + page) end(true);
    };
    channel.postMessage(page);
  });
}
