// The pages of this browser that live. Each holds a lock until it is left, and the browser frees the lock of one that was closed or
// has crashed. So a page can tell whether the sender of a message is still there.
import { newKey } from "../api/client";

const NAME = "caesura.page.";

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

/** Whether somebody else says that a page lives, where there are no locks. Until pages can ask each other, nobody does. */
let heard: (page: string) => Promise<boolean> = () => Promise.resolve(false);

export function onAsk(ask: typeof heard): void {
  heard = ask;
}

/** Whether a page lives because this one does. */
export const isHeld = (page: string): boolean => held.has(page);

/** Whether this page may go on with what another one, or an earlier one of this tab, has sent: it does not live any more. For
 * everybody else it lives again from then on, because this page does. */
export async function takeOver(page: string): Promise<boolean> {
  if (held.has(page)) return true;
  const locks = locksOf();
  if (locks) return hold(locks, page);
  if (await heard(page)) return false;
  held.set(page, () => undefined);
  return true;
}

/** Not there on a page that came by http from another machine. */
export const locksOf = (): LockManager | undefined => (navigator as { locks?: LockManager }).locks;

function show(): void {
  const locks = locksOf();
  if (locks) void hold(locks, me);
  else held.set(me, () => undefined);
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
  const holder = me;
  return new Promise((found) => {
    const asked = locks.request(NAME + page, { ifAvailable: true }, (lock) => {
      found(lock !== null);
      return lock && holder === me ? new Promise<void>((release) => held.set(page, release)) : undefined;
    });
    // A page that is being left gets no lock.
    asked.catch(() => found(true));
  });
}
