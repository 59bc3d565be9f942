// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import * as api from "../api/calls";
import { ApiError } from "../api/client";
import { hold, report, SILENT, useConnection, type Name } from "./connection";
import { followHeld } from "./held";
import { useList } from "./list";
import { refresh } from "./refreshing";

vi.mock("../api/calls");
vi.mock("./refreshing");
const LOST = new ApiError(0, "unreachable", "");
const held = (): boolean => useConnection.getState().held;
const settle = () => vi.advanceTimersByTimeAsync(0);
/** A try of a stream has failed, the nth in a row without a word. */
async function failed(name: Name, silent: number): Promise<void> {
  report(name, { kind: "lost", retryAt: performance.now() + 1000, silent });
  await settle();
}

let end: () => void;
beforeEach(() => {
  vi.useFakeTimers();
  vi.resetAllMocks();
  vi.mocked(api.inbox).mockResolvedValue({ interrupts: [], next: null });
  hold("turn", null);
  hold("feed", null);
  end = followHeld();
});
afterEach(() => {
  end();
  hold("turn", null);
  hold("feed", null);
  vi.useRealTimers();
});

it("after several silent tries each one reads once what the stream would have told, and nothing reads in between", async () => {
  for (let n = 1; n < SILENT; n += 1) await failed("turn", n);
  expect(refresh).not.toHaveBeenCalled();
  await failed("turn", SILENT);
  expect([vi.mocked(refresh).mock.calls.length, held()]).toEqual([1, true]);
  await vi.advanceTimersByTimeAsync(600_000);
  expect(refresh).toHaveBeenCalledOnce();
  await failed("turn", SILENT + 1);
  expect(refresh).toHaveBeenCalledTimes(2);
});

it("once the page knows that streams are held back, the first silent try of the next turn reads", async () => {
  vi.mocked(api.conversations).mockResolvedValue({ conversations: [{ id: "c1", title: "New", updated_at: 5 }], next: null, total: 1 } as never);
  await failed("feed", SILENT);
  expect(useList.getState().rows.c1?.title).toBe("New");
  await failed("turn", 1);
  expect(refresh).toHaveBeenCalledOnce();
});

it("a server that answers no request is lost, not held back", async () => {
  vi.mocked(refresh).mockRejectedValue(LOST);
  await failed("turn", SILENT);
  expect([vi.mocked(refresh).mock.calls.length, held()]).toEqual([1, false]);
});

it("a server that refuses streams is not silent", async () => {
  await failed("turn", 0);
  expect(refresh).not.toHaveBeenCalled();
});

it("a request that hangs is not sent again beside itself", async () => {
  vi.mocked(refresh).mockReturnValue(new Promise(() => undefined));
  await failed("turn", SILENT);
  await failed("turn", SILENT + 1);
  expect(refresh).toHaveBeenCalledOnce();
});

it("a stream that is heard again is not held back", async () => {
  await failed("turn", SILENT);
  await vi.advanceTimersByTimeAsync(1000);
  report("turn", { kind: "open" });
  expect(useConnection.getState()).toMatchObject({ lost: null, held: false });
});
