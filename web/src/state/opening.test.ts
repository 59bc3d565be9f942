import { afterEach, beforeEach, expect, test, vi } from "vitest";

import * as api from "../api/calls";
import { ApiError } from "../api/client";
import type { Snapshot } from "../api/types";
import { loadOlder, open, reload } from "./opening";
import { NONE, useThread } from "./thread";

vi.mock("../api/calls");
const snapshot = vi.mocked(api.snapshot);
const SNAPSHOT = { conversation: { id: "c", title: null, updated_at: 1 }, turns: [], before: null, read: null } as unknown as Snapshot;

beforeEach(() => {
  vi.useFakeTimers();
  useThread.setState(NONE, true);
  snapshot.mockReset();
  vi.mocked(api.artifacts).mockResolvedValue({ artifacts: [] });
});
afterEach(() => void vi.useRealTimers());

test("a conversation that could not be read again is tried again", async () => {
  snapshot.mockResolvedValueOnce(SNAPSHOT);
  await open("c");
  snapshot.mockRejectedValueOnce(new ApiError(503, "unavailable", "away")).mockResolvedValueOnce(SNAPSHOT);
  await reload();
  expect(useThread.getState().phase).toBe("ready");
  await vi.advanceTimersByTimeAsync(3000);
  expect(snapshot).toHaveBeenCalledTimes(3);
});

test("nothing is left of a conversation that is gone", async () => {
  snapshot.mockResolvedValueOnce(SNAPSHOT);
  await open("c");
  snapshot.mockRejectedValueOnce(new ApiError(404, "not_found", "gone"));
  await reload();
  expect(useThread.getState()).toMatchObject({ id: "c", phase: "missing", entries: [], conversation: null });
});

test("earlier messages can be asked for again after another branch was opened meanwhile", async () => {
  snapshot.mockResolvedValueOnce({ ...SNAPSHOT, before: "p1" });
  await open("c");
  let give: (page: Snapshot) => void = () => undefined;
  snapshot.mockReturnValueOnce(new Promise((resolve) => (give = resolve)));
  const older = loadOlder();
  snapshot.mockResolvedValueOnce({ ...SNAPSHOT, before: "p2" });
  await reload();
  give({ ...SNAPSHOT, before: null });
  await older;
  expect(useThread.getState()).toMatchObject({ older: "idle", before: "p2" });
});
