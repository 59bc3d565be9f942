import { afterEach, beforeEach, expect, test, vi } from "vitest";

import * as api from "../api/calls";
import { ApiError } from "../api/client";
import type { Snapshot } from "../api/types";
import type { OwnLink } from "../stream/link";
import { loadOlder, open, reload } from "./opening";
import { refresh } from "./refreshing";
import { NONE, useThread } from "./thread";

vi.mock("../api/calls");
const links: { [Name in keyof OwnLink]: ReturnType<typeof vi.fn> }[] = [];
vi.mock("../stream/link", () => ({
  follow: () => {
    const link = { retry: vi.fn(), skipTo: vi.fn(), close: vi.fn() };
    links.push(link);
    return link;
  },
}));
const snapshot = vi.mocked(api.snapshot);
const SNAPSHOT = { conversation: { id: "c", title: null, updated_at: 1 }, turns: [], before: null, read: null } as unknown as Snapshot;

const running = (cursor: number, status = "running"): Snapshot => ({
  ...SNAPSHOT,
  turns: [{ id: "t1", conversation_id: "c", status, messages: [], interrupts: [], running_tools: [], writing_tools: [], notes: [], artifacts: [], cursor }] as unknown as Snapshot["turns"],
});
const cursor = (): number | undefined => useThread.getState().entries.at(-1)?.log.cursor;

beforeEach(() => {
  links.length = 0;
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

test("what a silent stream would have told is shown, and the stream goes on from there with its tries", async () => {
  snapshot.mockResolvedValueOnce(running(3));
  await open("c");
  snapshot.mockResolvedValueOnce(running(7));
  await refresh();
  expect(cursor()).toBe(7);
  expect(links).toHaveLength(1);
  expect(links[0]?.skipTo).toHaveBeenCalledExactlyOnceWith("7");
  expect(links[0]?.close).not.toHaveBeenCalled();
  snapshot.mockResolvedValueOnce(running(9, "done"));
  await refresh();
  expect([cursor(), links.length]).toEqual([9, 1]);
  expect(links[0]?.close).toHaveBeenCalled();
});

test("a snapshot that is older than what the stream has told meanwhile changes nothing", async () => {
  snapshot.mockResolvedValueOnce(running(7));
  await open("c");
  snapshot.mockResolvedValueOnce(running(3));
  await refresh();
  expect(cursor()).toBe(7);
  expect(links[0]?.skipTo).not.toHaveBeenCalled();
});

test("what could not be read instead of a stream is not tried again by itself", async () => {
  snapshot.mockResolvedValueOnce(running(3));
  await open("c");
  snapshot.mockRejectedValueOnce(new ApiError(0, "unreachable", ""));
  await expect(refresh()).rejects.toThrow(ApiError);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(snapshot).toHaveBeenCalledTimes(2);
});

test("no shown word of a running turn vanishes because an older snapshot comes late", async () => {
  snapshot.mockResolvedValueOnce(running(7));
  await open("c");
  snapshot.mockResolvedValueOnce(running(3));
  await reload();
  expect(cursor()).toBe(7);
  snapshot.mockResolvedValueOnce(running(9, "done"));
  await reload();
  expect(cursor()).toBe(9);
});

test("a snapshot of a later attempt is shown, although its number is smaller", async () => {
  snapshot.mockResolvedValueOnce(running(16_777_216 + 7));
  await open("c");
  snapshot.mockResolvedValueOnce(running(2 * 16_777_216 + 3));
  await reload();
  expect(cursor()).toBe(2 * 16_777_216 + 3);
});

test("what the stream told in vain gives way to a snapshot, also an older one", async () => {
  snapshot.mockResolvedValueOnce(running(7));
  await open("c");
  useThread.setState(({ entries }) => ({ entries: entries.map((entry) => ({ ...entry, log: { ...entry.log, stale: true } })) }));
  snapshot.mockResolvedValueOnce(running(3));
  await reload();
  expect(cursor()).toBe(3);
});
