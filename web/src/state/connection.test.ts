// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { request } from "../api/client";
import { followRequests, hold, noteHeld, report, useConnection } from "./connection";

const retry = vi.fn();

beforeEach(() => {
  vi.useFakeTimers();
  retry.mockReset();
  hold("feed", { retry, close: () => undefined });
});
afterEach(() => {
  hold("feed", null);
  hold("turn", null);
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("no time is told for a try that is under way", () => {
  const later = performance.now() + 60_000;
  report("turn", { kind: "lost", retryAt: later, silent: 0 });
  vi.advanceTimersByTime(1000);
  expect(useConnection.getState().lost).toEqual({ retryAt: later });
  report("turn", { kind: "connecting" });
  expect(useConnection.getState().lost).toEqual({ retryAt: 0 });
  report("turn", { kind: "open" });
  expect(useConnection.getState().lost).toBeNull();
});

it("a stream that waits is tried as soon as the server answers anything", async () => {
  vi.stubGlobal("fetch", () => Promise.resolve(new Response("{}")));
  followRequests();
  await request("/x");
  expect(retry).not.toHaveBeenCalled();
  report("feed", { kind: "lost", retryAt: performance.now() + 60_000, silent: 0 });
  await request("/x");
  await request("/x");
  expect(retry).toHaveBeenCalledOnce();
});

it("a stream that is held back keeps its waits, whatever the server answers", async () => {
  vi.stubGlobal("fetch", () => Promise.resolve(new Response("{}")));
  followRequests();
  report("feed", { kind: "lost", retryAt: performance.now() + 60_000, silent: 3 });
  noteHeld(true);
  await request("/x");
  expect(retry).not.toHaveBeenCalled();
});
