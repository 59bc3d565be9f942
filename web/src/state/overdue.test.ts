// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import * as api from "../api/calls";
import { ApiError } from "../api/client";
import type { Asked, Interrupt } from "../api/types";
import { EMPTY } from "../log/turn";
import { useAnswers, type Given } from "./answers";
import { reload } from "./opening";
import { DUE, followOverdue } from "./overdue";
import { NONE, useThread } from "./thread";

vi.mock("../api/calls");
vi.mock("./opening");
const interrupt = vi.mocked(api.interrupt);
const GIVEN: Given = { phase: "given", decision: "approve", at: 1 };

function waiting(...ids: string[]): void {
  const pending = ids.map((id) => ({ id }) as Interrupt);
  useThread.setState({ ...NONE, id: "c", phase: "ready", entries: [{ turn: { id: "t" } as never, log: { ...EMPTY, status: "waiting", pending } }] }, true);
}

let end: () => void;
beforeEach(() => {
  vi.useFakeTimers();
  vi.resetAllMocks();
  useAnswers.setState({}, true);
  waiting("q1");
  end = followOverdue();
});
afterEach(() => {
  end();
  vi.useRealTimers();
});

it("a question whose answer the server does not have is open again", async () => {
  interrupt.mockResolvedValue({ status: "pending", answer: null } as Asked);
  useAnswers.setState({ q1: GIVEN });
  await vi.advanceTimersByTimeAsync(DUE - 1);
  expect(useAnswers.getState().q1).toBe(GIVEN);
  await vi.advanceTimersByTimeAsync(1);
  expect(useAnswers.getState().q1).toBeUndefined();
});

it("a question that the server knows as answered is read again until it goes away", async () => {
  interrupt.mockResolvedValue({ status: "answered", answer: {} } as Asked);
  useAnswers.setState({ q1: GIVEN });
  await vi.advanceTimersByTimeAsync(DUE * 3);
  expect(reload).toHaveBeenCalledTimes(2);
  waiting();
  await vi.advanceTimersByTimeAsync(DUE * 100);
  expect(reload).toHaveBeenCalledTimes(2);
  expect(useAnswers.getState().q1).toBe(GIVEN);
});

it("while the server is silent the answer counts, and the page goes on asking", async () => {
  interrupt.mockRejectedValue(new ApiError(0, "unreachable", ""));
  useAnswers.setState({ q1: GIVEN });
  await vi.advanceTimersByTimeAsync(DUE * 3);
  expect(interrupt).toHaveBeenCalledTimes(2);
  expect(useAnswers.getState().q1).toBe(GIVEN);
});

it("one of several questions waits for the others", async () => {
  waiting("q1", "q2");
  useAnswers.setState({ q1: GIVEN });
  await vi.advanceTimersByTimeAsync(DUE * 10);
  expect(interrupt).not.toHaveBeenCalled();
  useAnswers.setState({ q2: GIVEN });
  interrupt.mockResolvedValue({ status: "answered", answer: {} } as Asked);
  await vi.advanceTimersByTimeAsync(DUE);
  expect(interrupt).toHaveBeenCalledTimes(2);
});
