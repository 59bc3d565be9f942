// @vitest-environment jsdom
import { beforeEach, describe, expect, it, vi } from "vitest";

import { serverNow } from "../api/clock";
import { EMPTY, type LogMessage } from "../log/turn";
import { keep } from "./kept";
import { deleteConversation, dropRow } from "./list";
import { markOf, read } from "./reading";
import { useSession } from "./session";
import type { Entry } from "./thread";

const markRead = vi.hoisted(() => vi.fn(() => Promise.resolve()));
const remove = vi.hoisted(() => vi.fn());
vi.mock("../api/calls", () => ({ markRead, remove }));

const LONG_AGO = 1_700_000_000_000;

function entry(id: string, seq: number, times: number[] = []): Entry {
  const finished = times.map((at) => ({ role: "assistant", content: "x", at }) as LogMessage);
  return { turn: { id } as Entry["turn"], log: { ...EMPTY, seq, cursor: seq, status: "done", finished } };
}

beforeEach(() => {
  markRead.mockClear();
  localStorage.clear();
  keep("user", "alice");
});

describe("where the person left", () => {
  it("is nowhere if they have read everything, or have read nothing yet", () => {
    expect(markOf("c", [entry("t1", 9)], { turn_id: "t1", cursor: 9, at: LONG_AGO })).toBeNull();
    expect(markOf("c", [entry("t1", 9)], null)).toBeNull();
  });

  it("is before the first turn that came later", () => {
    expect(markOf("c", [entry("t1", 9), entry("t2", 5)], { turn_id: "t1", cursor: 9, at: LONG_AGO })).toMatchObject({ turn: "t2", messages: -1 });
  });

  it("is in the turn that went on, after the messages of that time", () => {
    const read = { turn_id: "t1", cursor: 4, at: LONG_AGO };
    expect(markOf("c", [entry("t1", 9, [LONG_AGO - 5, LONG_AGO + 5])], read)).toMatchObject({ turn: "t1", messages: 1 });
  });

  it("is exact where this browser knows the place", () => {
    keep("left.c", JSON.stringify({ turn: "t1", cursor: 4, messages: 2 }));
    const read = { turn_id: "t1", cursor: 4, at: LONG_AGO };
    expect(markOf("c", [entry("t1", 9, [LONG_AGO + 5, LONG_AGO + 6, LONG_AGO + 7])], read)).toMatchObject({ messages: 2 });
  });

  it("is the character that had arrived when they left, in an answer that went on", async () => {
    const now = entry("t1", 4, [LONG_AGO]);
    await read("c", { ...now, log: { ...now.log, drafts: [{ call: 2, agent: "a", parent: null, text: "so far", reasoning: "", calls: [], at: null }] } });
    const mark = markOf("c", [entry("t1", 9, [LONG_AGO, LONG_AGO + 9])], { turn_id: "t1", cursor: 4, at: LONG_AGO });
    expect(mark).toMatchObject({ turn: "t1", messages: 1, characters: 6 });
  });

  it("is where they left on another device, if that was later", () => {
    keep("left.c", JSON.stringify({ turn: "t1", cursor: 2, messages: 0, characters: 7 }));
    const mark = markOf("c", [entry("t1", 9, [LONG_AGO - 5, LONG_AGO + 5])], { turn_id: "t1", cursor: 4, at: LONG_AGO });
    expect(mark).toMatchObject({ messages: 1, characters: 0 });
  });

  it("is not told to somebody who was away for a moment only", () => {
    expect(markOf("c", [entry("t1", 9)], { turn_id: "t1", cursor: 4, at: serverNow() - 1000 })).toBeNull();
  });
});

describe("a conversation that is deleted", () => {
  const told = async (id: string): Promise<number> => {
    await read(id, entry("t1", 3));
    return markRead.mock.calls.length;
  };

  it("is not told as read, wherever it was deleted", async () => {
    expect(await told("kept")).toBe(1);
    dropRow("elsewhere");
    expect(await told("elsewhere")).toBe(1);
  });

  it("is not told as read while the server is told, and is again if that was refused", async () => {
    let refuse = (): void => undefined;
    remove.mockReturnValueOnce(new Promise((_, no) => (refuse = () => no(new Error()))));
    const deleted = deleteConversation("here");
    expect(await told("here")).toBe(0);
    refuse();
    await expect(deleted).rejects.toThrow();
    expect(await told("here")).toBe(1);
  });
});

it("is not told as read behind the dialog of a session that has ended, and is when the person is back", async () => {
  useSession.setState({ phase: "ended" });
  await read("hidden", entry("t1", 3));
  expect(markRead).not.toHaveBeenCalled();
  useSession.setState({ phase: "in" });
  await read("hidden", entry("t1", 3));
  expect(markRead).toHaveBeenCalledTimes(1);
});
