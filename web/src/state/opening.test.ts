import { afterEach, beforeEach, expect, test, vi } from "vitest";

import * as api from "../api/calls";
import { ApiError } from "../api/client";
import type { Snapshot } from "../api/types";
import { open, reload } from "./opening";
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
