// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { request } from "../api/client";
import { useConnection } from "./connection";
import { followStoring } from "./storing";

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("a server that cannot store is told of until it can, or until nobody knows any more", async () => {
  const full = () => useConnection.getState().full;
  const refused = () => Promise.resolve(new Response('{"error": {"code": "unavailable"}}', { status: 503 }));
  followStoring();
  const put = () => request("/x", { method: "PUT" }).catch(() => undefined);
  vi.stubGlobal("fetch", refused);
  await request("/x").catch(() => undefined);
  expect(full()).toBe(false);
  await put();
  expect(full()).toBe(true);
  // What it has stored before can be read on a full disk.
  vi.stubGlobal("fetch", () => Promise.resolve(new Response("{}")));
  await request("/x");
  expect(full()).toBe(true);
  await put();
  expect(full()).toBe(false);
  vi.stubGlobal("fetch", refused);
  await put();
  vi.advanceTimersByTime(10_000);
  await put();
  vi.advanceTimersByTime(10_000);
  expect(full()).toBe(true);
  vi.advanceTimersByTime(10_000);
  expect(full()).toBe(false);
});
