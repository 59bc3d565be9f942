import { beforeEach, expect, it, vi } from "vitest";

import * as api from "../api/calls";
import type { Turn } from "../api/types";
import { EMPTY } from "../log/turn";
import { retry } from "./doing";
import { follow } from "./opening";
import { NONE, update, useThread, type Entry } from "./thread";

vi.mock("../api/calls");
vi.mock("./opening");

const STOPPED: Entry = { turn: { id: "t1" } as Entry["turn"], log: { ...EMPTY, status: "stopped" } };
const status = () => useThread.getState().entries.at(-1)?.log.status;

beforeEach(() => useThread.setState({ ...NONE, id: "c1", phase: "ready", entries: [STOPPED] }, true));

it("a turn that is tried again waits for its place", async () => {
  vi.mocked(api.retry).mockResolvedValue({} as Turn);
  await retry(STOPPED);
  expect(status()).toBe("queued");
  expect(follow).toHaveBeenCalledOnce();
});

it("a turn that runs already when the response comes is not called queued", async () => {
  vi.mocked(api.retry).mockImplementation(() => {
    update("t1", (log) => ({ ...log, status: "running" }));
    return Promise.resolve({} as Turn);
  });
  await retry(STOPPED);
  expect(status()).toBe("running");
});
