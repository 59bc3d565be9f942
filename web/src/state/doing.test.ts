// @vitest-environment jsdom
import { beforeEach, describe, expect, it, vi } from "vitest";

import * as api from "../api/calls";
import { ApiError } from "../api/client";
import type { Turn } from "../api/types";
import { EMPTY } from "../log/turn";
import { regenerate, retry } from "./doing";
import { follow, reload } from "./opening";
import { NONE, update, useThread, type Entry } from "./thread";

vi.mock("../api/calls");
vi.mock("./opening");

const STOPPED: Entry = { turn: { id: "t1" } as Entry["turn"], log: { ...EMPTY, status: "stopped" } };
const status = () => useThread.getState().entries.at(-1)?.log.status;

beforeEach(() => {
  vi.resetAllMocks();
  useThread.setState({ ...NONE, id: "c1", phase: "ready", entries: [STOPPED] }, true);
});

it("a turn that is tried again waits for its place", async () => {
  vi.mocked(api.retry).mockResolvedValue({ status: "queued" } as Turn);
  await retry(STOPPED);
  expect(status()).toBe("queued");
  expect(follow).toHaveBeenCalledOnce();
});

it("a turn that runs already when the response comes is not called queued", async () => {
  vi.mocked(api.retry).mockImplementation(() => {
    update("t1", (log) => ({ ...log, status: "running" }));
    return Promise.resolve({ status: "queued" } as Turn);
  });
  await retry(STOPPED);
  expect(status()).toBe("running");
});

describe.each([
  ["answering again", regenerate, "regenerate"],
  ["trying again", retry, "retry"],
] as const)("%s", (_, act, name) => {
  const LOST = new ApiError(0, "unreachable", "");
  const call = vi.mocked(api[name]);
  const made = { id: "t2", parent_id: null, status: "queued" } as Turn;
  const keys = () => call.mock.calls.map(([, key]) => key);
  const entry = (turn: string, siblings: string[], seq = 3): Entry => ({ turn: { id: turn, siblings } as Entry["turn"], log: { ...EMPTY, seq, status: "stopped" } });

  it("twice at once is one request", async () => {
    const one = entry(`${name}1`, []);
    call.mockResolvedValue(made);
    await Promise.all([act(one), act(one)]);
    expect(keys()).toHaveLength(1);
  });

  it("after a lost response goes out under the same key, and after a refusal under another one", async () => {
    const one = entry(`${name}2`, []);
    call.mockRejectedValueOnce(LOST).mockRejectedValueOnce(new ApiError(409, "run_in_progress", "")).mockResolvedValue(made);
    for (let n = 0; n < 4; n += 1) await act(one);
    const [first, second, third, fourth] = keys();
    expect(second).toBe(first);
    expect(new Set([second, third, fourth]).size).toBe(3);
  });

  it("once the page has seen what came of it, is another request", async () => {
    call.mockRejectedValueOnce(LOST).mockResolvedValue(made);
    await act(entry(`${name}3`, ["a"], 3));
    await act(entry(`${name}3`, ["a", "b"], 9));
    expect(new Set(keys()).size).toBe(2);
  });
});

describe.each([
  ["answering again", regenerate, "regenerate"],
  ["trying again", retry, "retry"],
] as const)("%s without a response", (_, act, name) => {
  const LOST = new ApiError(0, "unreachable", "");

  it("lets the page read what came of it", async () => {
    vi.mocked(api[name]).mockRejectedValue(LOST);
    await act(STOPPED);
    expect(reload).toHaveBeenCalledOnce();
    expect(useThread.getState().fault?.code).toBe("unreachable");
  });

  it("is no fault if the page has seen meanwhile what came of it", async () => {
    vi.mocked(api[name]).mockImplementation(() => {
      update("t1", (log) => ({ ...log, status: "done", cursor: 9 }));
      return Promise.reject(LOST);
    });
    await act(STOPPED);
    expect(useThread.getState().fault).toBeNull();
  });

  it("that led to a turn which has ended by now reads what it said", async () => {
    vi.mocked(api[name]).mockResolvedValue({ id: "t1", parent_id: null, status: "done" } as Turn);
    await act(STOPPED);
    expect(reload).toHaveBeenCalledOnce();
    expect(follow).not.toHaveBeenCalled();
  });
});
