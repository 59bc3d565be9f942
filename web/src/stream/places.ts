// A browser has six connections to one server (HTTP/1.1), for all of its tabs together. Streams of turns take few of them, so
// that a request always finds one.

/** Streams of turns that may be open at once. With the feed, which the tabs share, two connections are left. */
export const PLACES = 3;

const NAME = "caesura.stream.";

/** Takes a place, and gives what leaves it; null if all are taken. A browser that cannot count gives everybody a place. */
export async function takePlace(): Promise<(() => void) | null> {
  // Not there on a page that came by http from another machine.
  const locks = (navigator as { locks?: LockManager }).locks;
  if (!locks) return () => undefined;
  for (let n = 1; n <= PLACES; n += 1) {
    const leave = await tryPlace(locks, NAME + String(n));
    if (leave) return leave;
  }
  return null;
}

function tryPlace(locks: LockManager, name: string): Promise<(() => void) | null> {
  return new Promise((found) => {
    const asked = locks.request(name, { ifAvailable: true }, (lock) => {
      if (!lock) {
        found(null);
        return undefined;
      }
      return new Promise<void>((leave) => found(leave));
    });
    // A page that is being left gets no lock.
    asked.catch(() => found(() => undefined));
  });
}
