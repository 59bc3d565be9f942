// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { ApiError } from "../api/client";
import type { Conversation } from "../api/types";
import { EMPTY } from "../log/turn";
import { setDraft } from "./drafts";
import { putRow } from "./list";
import { reload, vanish } from "./opening";
import { followOthers } from "./others";
import { NONE, update, useThread, type Entry, type Sending } from "./thread";

type Listener = (name: string, data: unknown) => void;
let listener: Listener = () => undefined;
vi.mock("./feed", () => ({
  onFeed: (given: Listener) => {
    listener = given;
    return () => undefined;
  },
}));
vi.mock("./opening");

const entry = (id: string, status: Entry["log"]["status"] = "done"): Entry => ({ turn: { id, parent_id: null } as Entry["turn"], log: { ...EMPTY, status } });
const SENDING: Sending = { content: "two", parent: undefined, fault: null };

/** The feed tells a row, as it does to the list too. */
function tell(active: string, status: Conversation["status"] = "idle"): void {
  const row = { id: "A", title: null, updated_at: 1, active_turn: active, status } as unknown as Conversation;
  putRow(row);
  listener("conversation", row);
}

let end: () => void;
beforeEach(() => {
  vi.useFakeTimers();
  vi.mocked(reload).mockReset();
  useThread.setState({ ...NONE, id: "A", phase: "ready", entries: [entry("t1")] }, true);
  end = followOthers();
});
afterEach(() => {
  end();
  vi.useRealTimers();
});
const wait = (): void => void vi.advanceTimersByTime(1000);

it("what another device adds is read", () => {
  tell("t2");
  wait();
  expect(reload).toHaveBeenCalledOnce();
});

it("what another device adds while a message is on its way is read when the message has arrived", () => {
  useThread.setState({ sending: SENDING });
  tell("t3");
  wait();
  expect(reload).not.toHaveBeenCalled();
  useThread.setState({ entries: [entry("t1"), entry("t2", "queued")], sending: null });
  wait();
  expect(reload).toHaveBeenCalledOnce();
});

it("the page's own message is not read again", () => {
  useThread.setState({ sending: SENDING });
  tell("t2", "running");
  useThread.setState({ entries: [entry("t1"), entry("t2", "queued")], sending: null });
  wait();
  expect(reload).not.toHaveBeenCalled();
});

it("a turn that went on and ended within a moment is read", () => {
  useThread.setState({ entries: [entry("t1", "failed")] });
  tell("t1", "running");
  tell("t1", "idle");
  wait();
  expect(reload).toHaveBeenCalledOnce();
});

it("the page does not say that the server is silent once it has seen what it asked for", () => {
  useThread.setState({ entries: [entry("t1", "failed")], fault: new ApiError(0, "unreachable", "") });
  update("t1", (log) => ({ ...log, status: "done" }));
  expect(useThread.getState().fault).toBeNull();
});

it("a conversation that is deleted elsewhere leaves what was typed in it", () => {
  setDraft("A", "typed");
  listener("conversation_deleted", { id: "A" });
  expect(vanish).toHaveBeenCalledWith("A", true);
});
