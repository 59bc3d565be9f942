// Two clocks. Durations are measured by one that cannot jump; times of day are the server's, as far as its responses tell.

/** Milliseconds by a clock that only goes forward. It may stand still while the machine sleeps. */
export function ticks(): number {
  return performance.now();
}

/** What the server's clock shows when the ticks begin. Until the first response this machine's clock is believed. */
let origin = Date.now() - ticks();

/** The time by the server's clock. If somebody sets this machine's clock, nothing changes. */
export function serverNow(): number {
  return origin + ticks();
}

/** Learns the server's clock from a response. Its header has whole seconds, so small differences mean nothing. */
export function learnClock(response: Response): void {
  const date = Date.parse(response.headers.get("Date") ?? "");
  if (Number.isNaN(date)) return;
  const difference = date + 500 - serverNow();
  if (Math.abs(difference) > 2000) origin += difference;
}

export interface Moment {
  ticks: number;
  wall: number;
}

export function moment(): Moment {
  return { ticks: ticks(), wall: Date.now() };
}

/** Milliseconds since then, with those in which the machine slept. A clock that was set forward looks like a sleep: this is for what
 * does no harm when it is done too early. */
export function passed(since: Moment): number {
  return Math.max(ticks() - since.ticks, Date.now() - since.wall);
}
