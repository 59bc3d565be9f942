// @vitest-environment jsdom
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";

import { EMPTY, type LogMessage, type TurnLog } from "../log/turn";
import { NONE, useThread } from "../state/thread";
import { words } from "../words/words";
import { Chips } from "./Chips";

const CALL = { id: "c1", name: "update_artifact", args: { id: "plan", old: "a", new: "b" } };
const spoken = { role: "assistant", content: "", tool_calls: [CALL] } as unknown as LogMessage;
const result = { role: "tool", content: "updated artifact plan: version 7", tool_calls: [], tool_call_id: "c1", status: "ok" } as unknown as LogMessage;
const log = (more: Partial<TurnLog>): TurnLog => ({ ...EMPTY, status: "done", finished: [spoken, result], ...more });

function show(turn: TurnLog): string {
  useThread.setState({ ...NONE, artifacts: [{ id: "plan", title: "The plan", content_type: "markdown", version: 9, created_at: 0, updated_at: 0 }] }, true);
  render(<Chips log={turn} />);
  return screen.getByRole("button").textContent ?? "";
}
afterEach(cleanup);

it("a chip has the version that the log says, whatever the tool told the model", () => {
  expect(show(log({ documents: [{ id: "plan", version: 8 }] }))).toContain("v8");
});

it("a turn of an older server has a chip without a version", () => {
  expect(show(log({}))).toMatch(/The plan/);
  expect(screen.getByRole("button").textContent).not.toMatch(/v\d/);
});

it("an older version has the time at which its turn wrote it", () => {
  const at = new Date(2026, 1, 1, 19, 14).getTime();
  expect(show(log({ finished: [spoken, { ...result, at }], endedAt: at + 600_000, documents: [{ id: "plan", version: 8 }] }))).toContain(`v8 · ${words("en").clock(at)}`);
});
