// A browser has six connections to one server (HTTP/1.1), for all of its tabs together. Streams of turns take few of them, so
// that a request always finds one. Windows that want more take turns: who waits stands in the queue of a lock, and says so.
import { ticks } from "../api/clock";

/** Streams of turns that may be open at once. With the feed, which the tabs share, two connections are left. */
export const PLACES = 3;
/** Milliseconds for which a place is kept although another window waits for it. */
export const SHARE = 3000;

const NAME = "caesura.stream.";
const NAMES = Array.from({ length: PLACES }, (_, index) => NAME + String(index + 1));
/** Who holds this looks whether somebody waits: so no more windows leave than are waited for. */
const LEAVING = "caesura.leaving";

type Leave = () => void;
/** A window waits, and may have the focus; or it has got its place: those that still wait say so again. */
type News = "waits" | "urgent" | "taken";

export interface Wishes {
  /** Whether the window has the focus. */
  focused: () => boolean;
  /** All places are taken. */
  onWait: () => void;
  /** The place was left to a window that waits. */
  onLeft: () => void;
}

/** Takes a place, or waits for one until the signal ends that. Gives what leaves it. A browser that cannot count gives everybody a
 * place. */
export async function takePlace(signal: AbortSignal, wishes: Wishes): Promise<Leave> {
  // Not there on a page that came by http from another machine.
  const locks = (navigator as { locks?: LockManager }).locks;
  if (!locks || typeof BroadcastChannel !== "function") return () => undefined;
  const channel = new BroadcastChannel("caesura.places");
  let leave: Leave | null = null;
  for (const name of NAMES) leave ??= await request(locks, [name], { ifAvailable: true });
  if (!leave && !signal.aborted) {
    wishes.onWait();
    leave = await queue(locks, signal, channel, wishes);
  }
  return hold(locks, channel, leave ?? (() => undefined), wishes);
}

/** Asks for these places, and keeps the first that it gets. Null: it gets none. */
function request(locks: LockManager, names: readonly string[], options: { ifAvailable?: boolean }, signal?: AbortSignal): Promise<Leave | null> {
  const abort = new AbortController();
  return new Promise((found) => {
    let mine = false;
    const granted = (lock: Lock | null): Promise<void> | undefined => {
      if (!lock || mine || signal?.aborted) {
        if (!lock) found(null);
        return undefined;
      }
      mine = true;
      const held = new Promise<void>((leave) => found(leave));
      // The other requests need not wait any more. This one has ended its waiting.
      abort.abort();
      return held;
    };
    signal?.addEventListener("abort", () => {
      abort.abort();
      found(null);
    });
    for (const name of names) {
      // A request that is ended while it waits is refused. A page that is being left gets no lock at all.
      const asked = options.ifAvailable ? locks.request(name, options, granted) : locks.request(name, { signal: abort.signal }, granted);
      asked.catch(() => found(() => undefined));
    }
  });
}

/** Waits in all queues: they have the same order. */
async function queue(locks: LockManager, signal: AbortSignal, channel: BroadcastChannel, { focused }: Wishes): Promise<Leave | null> {
  const place = request(locks, NAMES, {}, signal);
  const tell = (): void => {
    // The answer comes after the requests have been taken: who hears that this window waits finds them.
    void locks.query().then(
      () => {
        if (!over) channel.postMessage((focused() ? "urgent" : "waits") satisfies News);
      },
      () => undefined,
    );
  };
  let over = false;
  channel.onmessage = ({ data }: MessageEvent<News>) => {
    if (data === "taken") tell();
  };
  addEventListener("focus", tell);
  tell();
  const leave = await place;
  over = true;
  removeEventListener("focus", tell);
  return leave;
}

/** Leaves the place to a window that waits, after a while. A window that has the focus keeps it, unless the other one has it too. */
function hold(locks: LockManager, channel: BroadcastChannel, release: Leave, { focused, onLeft }: Wishes): Leave {
  const until = ticks() + SHARE;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let urgent = false;
  let left = false;
  const leave = (): void => {
    if (left) return;
    left = true;
    clearTimeout(timer);
    channel.close();
    release();
  };
  const consider = (): void => {
    timer = undefined;
    if (focused() && !urgent) return;
    const asked = locks.request(LEAVING, async () => {
      if (left || !somebodyWaits(await locks.query()) || left) return;
      leave();
      onLeft();
    });
    asked.catch(() => undefined);
  };
  channel.onmessage = ({ data }: MessageEvent<News>) => {
    if (data === "taken") return;
    urgent = data === "urgent";
    const wait = urgent && !focused() ? 0 : until - ticks();
    if (wait <= 0) consider();
    else timer ??= setTimeout(consider, wait);
  };
  channel.postMessage("taken" satisfies News);
  return leave;
}

/** A window that has just got its place may not have ended its other requests yet. */
function somebodyWaits({ held = [], pending = [] }: LockManagerSnapshot): boolean {
  const placed = (lock: LockInfo): boolean => lock.name?.startsWith(NAME) ?? false;
  const holders = new Set(held.filter(placed).map(({ clientId }) => clientId));
  return pending.some((lock) => placed(lock) && !holders.has(lock.clientId));
}
