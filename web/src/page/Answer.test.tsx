// @vitest-environment jsdom
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";

import type { Note } from "../api/types";
import { EMPTY, type LogMessage, type TurnLog } from "../log/turn";
import { useAgents } from "../state/agents";
import type { Entry } from "../state/thread";
import { words } from "../words/words";
import { Answer } from "./Answer";

vi.mock("../api/calls");
vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined, removeEventListener: () => undefined }));
afterEach(cleanup);

const said = (content: string, calls: [string, string][] = [], parent: string | null = null) =>
  ({ role: "assistant", content, reasoning: "", tool_calls: calls.map(([id, name]) => ({ id, name, args: {} })), parent, call: null, agent: "a" }) as unknown as LogMessage;
const result = (id: string, status: string, parent: string | null = null) => ({ role: "tool", content: "out", tool_call_id: id, name: "t", status, parent, tool_calls: [], ms: 5 }) as unknown as LogMessage;
const entry = (log: Partial<TurnLog>): Entry => ({ turn: { id: "t", agent: "a", ended_at: 1 }, log: { ...EMPTY, status: "done", ...log } }) as unknown as Entry;
const show = (one: Entry, mark: { messages: number; characters: number } | null = null, last = true) =>
  render(<Answer entry={one} last={last} versions={[]} mark={mark && { turn: "t", at: 1, ...mark }} />).container;

it("a sub-agent none of whose steps succeeded shows no check", () => {
  useAgents.setState({ names: new Set(["helper"]) });
  const inner = (...steps: string[]) =>
    entry({ finished: [said("", [["c1", "helper"]]), said("", steps.map((_, at) => [`s${at}`, "read_file"]), "c1"), ...steps.map((status, at) => result(`s${at}`, status, "c1")), result("c1", "ok")] });
  const mark = (page: HTMLElement) => page.querySelector(".sub-agent > summary [role=img]")?.getAttribute("aria-label");
  expect(mark(show(inner("error")))).toBe("failed");
  expect(mark(show(inner("refused", "refused")))).toBe("refused");
  expect(mark(show(inner("error", "ok")))).toBe("done");
});

it("you left here only where something is new after it", () => {
  const one = entry({ finished: [said("first"), said("second")] });
  expect(show(one, { messages: 1, characters: 0 }).querySelector("#left-here")).not.toBeNull();
  cleanup();
  expect(show(one, { messages: 2, characters: 0 }).querySelector("#left-here")).toBeNull();
  cleanup();
  expect(show(one, { messages: 1, characters: 6 }).querySelector("#left-here")).toBeNull();
  cleanup();
  expect(show(one, { messages: 2, characters: 0 }, false).querySelector("#left-here")).not.toBeNull();
});

it("a pause is told with the time at which it was answered", () => {
  const at = new Date(2026, 1, 1, 19, 14).getTime();
  const note = { kind: "pause", after: 1, at, ms: 93_000, outcome: "answers", interrupt_id: "q", tool_call_id: null } as unknown as Note;
  show(entry({ finished: [said("first"), said("second")], notes: [note] }));
  expect(screen.getByText(words("en").clock(at + 93_000))).toBeTruthy();
  expect(screen.queryByText(words("en").clock(at))).toBeNull();
});
