import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { Channel } from "../../dev/channel";
import { Locks } from "../../dev/locks";
import { PLACES, SHARE, takePlace } from "./places";

interface Window {
  name: string;
  focused: boolean;
  abort: AbortController;
  waited: boolean;
  placed: boolean;
  /** How often it had a place. */
  times: number;
  leave: () => void;
}

let locks = new Locks();
let windows: Window[] = [];

/** The code of a window runs until it waits: then another window's may run. */
function as<T>(window: Window, work: () => T): T {
  vi.stubGlobal("navigator", { locks: locks.of(window.name) });
  return work();
}

/** A window that wants a place. It asks for one again when it has left its own. */
function open(name: string, focused = false): Window {
  const window: Window = { name, focused, abort: new AbortController(), waited: false, placed: false, times: 0, leave: () => undefined };
  windows.push(window);
  ask(window);
  return window;
}

function ask(window: Window): void {
  const onWait = (): void => void (window.waited = true);
  const onLeft = (): void => {
    window.placed = false;
    ask(window);
  };
  const focused = (): boolean => window.focused;
  void as(window, () => takePlace(window.abort.signal, { focused, onWait, onLeft })).then((leave) => {
    window.leave = leave;
    window.placed = !window.abort.signal.aborted;
    if (window.placed) window.times += 1;
    else leave();
  });
}

const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);
const placed = () => windows.filter((window) => window.placed).map((window) => window.name);

let focus = new EventTarget();

beforeEach(() => {
  vi.useFakeTimers();
  locks = new Locks();
  windows = [];
  Channel.all.clear();
  focus = new EventTarget();
  vi.stubGlobal("BroadcastChannel", Channel);
  vi.stubGlobal("addEventListener", focus.addEventListener.bind(focus));
  vi.stubGlobal("removeEventListener", focus.removeEventListener.bind(focus));
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("there are few places, and who waits gets one that is left", async () => {
  for (let n = 1; n <= PLACES; n += 1) open(`w${n}`);
  await pass(0);
  expect(windows.map(({ waited }) => waited)).not.toContain(true);
  const late = open("late");
  await pass(SHARE / 2);
  expect([late.waited, late.placed]).toEqual([true, false]);
  windows[1]?.leave();
  await pass(0);
  expect(late.placed).toBe(true);
  expect(locks.pending).toEqual([]);
});

it("a place that nobody waits for is kept", async () => {
  for (let n = 1; n <= PLACES; n += 1) open(`w${n}`);
  await pass(SHARE * 20);
  expect(windows.map(({ times }) => times)).toEqual([1, 1, 1]);
});

it("one that waits makes one leave, not all", async () => {
  for (let n = 1; n <= PLACES; n += 1) open(`w${n}`);
  await pass(SHARE * 2);
  open("late");
  await pass(10);
  expect(windows.filter(({ placed }) => !placed)).toHaveLength(1);
  expect(placed()).toContain("late");
});

it("windows take turns: none waits for long, and none leaves before its share is over", async () => {
  for (let n = 1; n <= PLACES + 4; n += 1) open(`w${n}`);
  const rounds = 14;
  await pass(SHARE * rounds + 100);
  expect(placed()).toHaveLength(PLACES);
  const times = windows.map((window) => window.times);
  expect(Math.max(...times) - Math.min(...times)).toBeLessThanOrEqual(1);
  expect(Math.min(...times)).toBeGreaterThanOrEqual(Math.floor((rounds * PLACES) / windows.length) - 1);
  expect(times.reduce((sum, count) => sum + count)).toBeLessThanOrEqual((rounds + 1) * PLACES);
});

it("the window that has the focus keeps its place, and the others share what is left", async () => {
  const read = open("read", true);
  for (let n = 1; n <= PLACES + 1; n += 1) open(`w${n}`);
  await pass(SHARE * 12);
  expect([read.placed, read.times]).toEqual([true, 1]);
  const others = windows.slice(1).map(({ times }) => times);
  expect(Math.min(...others)).toBeGreaterThanOrEqual(4);
});

it("a window that gets the focus while it waits gets a place at once", async () => {
  for (let n = 1; n <= PLACES; n += 1) open(`w${n}`);
  const late = open("late");
  await pass(SHARE / 3);
  expect(late.placed).toBe(false);
  late.focused = true;
  focus.dispatchEvent(new Event("focus"));
  await pass(0);
  expect(late.placed).toBe(true);
  expect(placed()).toHaveLength(PLACES);
});

it("windows take turns although each of them says that it has the focus", async () => {
  for (let n = 1; n <= PLACES + 2; n += 1) open(`w${n}`, true);
  await pass(SHARE * 10);
  expect(Math.min(...windows.map(({ times }) => times))).toBeGreaterThanOrEqual(4);
});

it("the waiting ends with its signal, and leaves nothing behind", async () => {
  for (let n = 1; n <= PLACES; n += 1) open(`w${n}`);
  const late = open("late");
  await pass(0);
  expect(locks.pending).toHaveLength(PLACES);
  late.abort.abort();
  await pass(0);
  expect(locks.pending).toEqual([]);
  await pass(SHARE * 5);
  expect(windows.map(({ times }) => times)).toEqual([1, 1, 1, 0]);
  for (const window of windows) window.leave();
  await pass(0);
  expect([...locks.held]).toEqual([]);
  expect(Channel.all.size).toBe(0);
});

it("a browser that cannot count them has room for everybody", async () => {
  vi.stubGlobal("navigator", {});
  const wishes = { focused: () => false, onWait: vi.fn(), onLeft: vi.fn() };
  for (let n = 0; n <= PLACES; n += 1) await takePlace(new AbortController().signal, wishes);
  expect(wishes.onWait).not.toHaveBeenCalled();
});

it("a browser that refuses locks has room for everybody", async () => {
  vi.stubGlobal("navigator", { locks: { request: () => Promise.reject(new Error("no")), query: () => Promise.reject(new Error("no")) } });
  const wishes = { focused: () => false, onWait: vi.fn(), onLeft: vi.fn() };
  for (let n = 0; n <= PLACES; n += 1) await takePlace(new AbortController().signal, wishes);
  expect(wishes.onWait).not.toHaveBeenCalled();
});
