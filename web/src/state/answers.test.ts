// @vitest-environment jsdom
import { beforeEach, expect, it, vi } from "vitest";

import * as api from "../api/calls";
import { ApiError } from "../api/client";
import type { Turn } from "../api/types";
import { giveAnswer, noteClosed, useAnswers } from "./answers";

vi.mock("../api/calls");
const answer = vi.mocked(api.answer);
const LOST = new ApiError(0, "unreachable", "");
const TAKEN = new ApiError(409, "already_answered", "", { decision: { decision: "approve" } });
const keys = () => answer.mock.calls.map(([, , key]) => key);
const phase = (id: string) => useAnswers.getState()[id]?.phase;

beforeEach(() => {
  sessionStorage.clear();
  useAnswers.setState({}, true);
  answer.mockReset();
});

it("the same answer is given again under the same key, another one under another", async () => {
  answer.mockRejectedValueOnce(LOST).mockRejectedValueOnce(LOST).mockResolvedValue({} as Turn);
  await expect(giveAnswer("q1", { decision: "approve" })).rejects.toBe(LOST);
  await expect(giveAnswer("q1", { decision: "reject" })).rejects.toBe(LOST);
  await giveAnswer("q1", { decision: "approve" });
  expect(keys()[2]).toBe(keys()[0]);
  expect(keys()[1]).not.toBe(keys()[0]);
  expect(phase("q1")).toBe("given");
});

it("an own answer whose response was lost is not somebody else's", async () => {
  answer.mockRejectedValueOnce(LOST);
  await expect(giveAnswer("q2", { decision: "approve" })).rejects.toBe(LOST);
  expect(noteClosed("q2", "answered", "approve")).toBe(false);
  expect(phase("q2")).toBe("given");
});

it("neither is it when the person gives another answer after it", async () => {
  answer.mockRejectedValueOnce(LOST).mockRejectedValueOnce(TAKEN);
  await expect(giveAnswer("q3", { decision: "approve" })).rejects.toBe(LOST);
  await giveAnswer("q3", { decision: "reject" });
  expect(useAnswers.getState().q3).toMatchObject({ phase: "given", decision: "approve" });
});

it("an answer that differs from every own one came from elsewhere", async () => {
  answer.mockRejectedValueOnce(LOST);
  await expect(giveAnswer("q4", { decision: "reject" })).rejects.toBe(LOST);
  expect(noteClosed("q4", "answered", "approve")).toBe(true);
  expect(phase("q4")).toBe("elsewhere");
});

it("an own answer is not somebody else's after a reload", async () => {
  answer.mockResolvedValue({} as Turn);
  await giveAnswer("q5", { decision: "approve" });
  vi.resetModules();
  const anew = await import("./answers");
  expect(anew.noteClosed("q5", "answered", "approve")).toBe(false);
  expect(anew.useAnswers.getState().q5?.phase).toBe("given");
});

it("nor is somebody else's answer an own one", async () => {
  answer.mockResolvedValue({} as Turn);
  noteClosed("q7", "answered", "reject");
  await giveAnswer("q8", { decision: "approve" });
  vi.resetModules();
  const { q7, q8 } = (await import("./answers")).useAnswers.getState();
  expect([q7, q8]).toMatchObject([{ phase: "elsewhere", decision: "reject" }, { phase: "given", decision: "approve" }]);
});

it("what was typed into a question is dropped when the question is closed", () => {
  sessionStorage.setItem("caesura.draft.ask.q6", "{}");
  noteClosed("q6", "expired", null);
  expect(sessionStorage.getItem("caesura.draft.ask.q6")).toBeNull();
});
