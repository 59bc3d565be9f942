// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { learnClock, moment, passed, serverNow, ticks } from "./clock";

const HOUR = 3_600_000;
const SERVER = Date.parse("2026-03-01T12:00:00Z");
const answered = (at: number): void => learnClock(new Response(null, { headers: { Date: new Date(at).toUTCString() } }));
/** Somebody sets this machine's clock. */
const set = (by: number): void => void vi.setSystemTime(Date.now() + by);
/** How far the page's idea of the server's time is off, in milliseconds. */
const off = (from: number, server: number): number => Math.abs(serverNow() - (server + ticks() - from));

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it.each([HOUR, -HOUR, 48 * HOUR])("the server's time goes on although this machine's clock jumps by %i ms", (jump) => {
  answered(SERVER);
  const from = ticks();
  set(jump);
  vi.advanceTimersByTime(1000);
  expect(off(from, SERVER)).toBeLessThan(2000);
});

it("small differences of a header of whole seconds change nothing", () => {
  answered(SERVER);
  const before = serverNow();
  answered(SERVER + 1000);
  expect(serverNow()).toBe(before);
});

it("after a sleep in which the ticks stood still the next response tells the time", () => {
  answered(SERVER);
  answered(SERVER + 8 * HOUR);
  expect(off(ticks(), SERVER + 8 * HOUR)).toBeLessThan(2000);
});

it("a sleep counts as time that has passed, a clock that was set back does not stop it", () => {
  const slept = moment();
  set(HOUR);
  expect(passed(slept)).toBeGreaterThanOrEqual(HOUR);
  const back = moment();
  set(-3 * HOUR);
  vi.advanceTimersByTime(5000);
  expect(passed(back)).toBe(5000);
});
