import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { PLACES, takePlace } from "./places";

const taken = new Set<string>();

beforeEach(() => {
  taken.clear();
  const request = async (name: string, _: LockOptions, work: (lock: object | null) => Promise<void> | undefined): Promise<void> => {
    if (taken.has(name)) return work(null);
    taken.add(name);
    await work({});
    taken.delete(name);
  };
  vi.stubGlobal("navigator", { locks: { request } });
});
afterEach(() => void vi.unstubAllGlobals());

it("there are few places, and one that is left can be taken again", async () => {
  const places = [];
  for (let n = 0; n < PLACES; n += 1) places.push(await takePlace());
  expect(places).not.toContain(null);
  expect(await takePlace()).toBeNull();
  places[1]?.();
  await vi.waitFor(() => expect(taken.size).toBe(PLACES - 1));
  expect(await takePlace()).not.toBeNull();
});

it("a browser that cannot count them has room for everybody", async () => {
  vi.stubGlobal("navigator", {});
  for (let n = 0; n <= PLACES; n += 1) expect(await takePlace()).not.toBeNull();
});
