// @vitest-environment jsdom
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import * as api from "../api/calls";
import { ApiError } from "../api/client";
import type { Conversation, Interrupt, Turn, TurnStatus } from "../api/types";
import { EMPTY } from "../log/turn";
import { useAnswers } from "../state/answers";
import { forgive } from "../state/doing";
import { forgetDrafts } from "../state/drafts";
import { NONE, useThread, type Entry } from "../state/thread";
import { Composer } from "./Composer";

vi.mock("../api/calls");
vi.mock("../state/opening");
vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined, removeEventListener: () => undefined }));

const box = () => screen.getByRole<HTMLTextAreaElement>("textbox");

beforeEach(() => {
  forgetDrafts();
  vi.mocked(api.createConversation).mockResolvedValue({ id: "C", title: "" } as Conversation);
  useThread.setState({ ...NONE, id: "A", phase: "ready" }, true);
});
afterEach(cleanup);

it("sends to a new conversation although another one is still open and has a message on its way", async () => {
  vi.mocked(api.send).mockResolvedValue({ id: "c1", parent_id: null } as Turn);
  useThread.setState({ sending: { content: "for A", parent: undefined, fault: null } });
  render(<Composer id={null} />);
  await userEvent.type(box(), "hello{Enter}");
  expect(vi.mocked(api.send).mock.calls.map(([id, body]) => [id, body.content])).toEqual([["C", "hello"]]);
  expect(useThread.getState().sending?.content).toBe("for A");
});

it("has the text again when no response came, and says that it may be sent again", async () => {
  vi.mocked(api.send).mockRejectedValue(new ApiError(0, "unreachable", ""));
  render(<Composer id="A" />);
  await userEvent.type(box(), "hello{Enter}");
  expect(await screen.findByText("The server did not answer. Send again: it cannot arrive twice.")).toBeTruthy();
  expect(box().value).toBe("hello");
});

it("says in plain words that another tab was faster", async () => {
  vi.mocked(api.send).mockRejectedValue(new ApiError(409, "run_in_progress", "run in progress"));
  render(<Composer id="A" />);
  await userEvent.type(box(), "hello{Enter}");
  expect(await screen.findByText(/^An answer is being written here already/)).toBeTruthy();
  expect(screen.queryByText(/run in progress/)).toBeNull();
});

const entry = (status: TurnStatus, pending: Partial<Interrupt>[] = []): Entry =>
  ({ turn: { id: "t", conversation_id: "A" }, log: { ...EMPTY, status, pending: pending as Interrupt[] } }) as unknown as Entry;

it("explains why a message is not sent while an answer is being written", async () => {
  useThread.setState({ entries: [entry("running")] });
  render(<Composer id="A" />);
  await userEvent.type(box(), "hello{Enter}");
  expect(screen.getByText(/^An answer is being written here already/)).toBeTruthy();
  expect(box().value).toBe("hello");
  await userEvent.type(box(), "!");
  expect(screen.queryByText(/^An answer is being written here already/)).toBeNull();
});

it("sends by Ctrl and Enter, too", async () => {
  vi.mocked(api.send).mockReset().mockResolvedValue({ id: "c1", parent_id: null } as Turn);
  render(<Composer id="A" />);
  await userEvent.type(box(), "hello{Control>}{Enter}{/Control}");
  expect(vi.mocked(api.send)).toHaveBeenCalledOnce();
});

it("says while a reply is written what it refuses, and which approvals come to nothing", async () => {
  const approval = { kind: "approval", args: {}, agent: "a" } as const;
  useThread.setState({ entries: [entry("waiting", [{ ...approval, id: "q1", name: "execute" }, { ...approval, id: "q2", name: "write_file" }, { ...approval, id: "q3", name: "web_fetch" }])] });
  useAnswers.setState({ q2: { phase: "given", decision: "approve", at: 1 }, q3: { phase: "given", decision: "reject", at: 1 } });
  render(<Composer id="A" />);
  expect(screen.queryByText(/refuses:/)).toBeNull();
  await userEvent.type(box(), "rather not");
  expect(screen.getByText("Sending this refuses: Run a command?")).toBeTruthy();
  expect(screen.getByText("Approved, but then not done: Write a file?")).toBeTruthy();
});

it("does not blame a server that answers again", () => {
  useThread.setState({ fault: new ApiError(0, "unreachable", "") });
  forgive();
  expect(useThread.getState().fault).toBeNull();
});

it.each([
  [403, "forbidden"],
  [0, "unanswered"],
])("still says what was not done when the server answers again (%s %s)", (status, code) => {
  const other = new ApiError(status, code, "");
  useThread.setState({ fault: other });
  forgive();
  expect(useThread.getState().fault).toBe(other);
});

it("does not say that every word is kept when the browser stores none", async () => {
  const full = vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
    throw new DOMException("full", "QuotaExceededError");
  });
  render(<Composer id="A" />);
  expect(screen.getByText("Every word is kept.")).toBeTruthy();
  await userEvent.type(box(), "precious");
  expect(await screen.findByText(/^This browser cannot store what you write/)).toBeTruthy();
  expect(screen.queryByText("Every word is kept.")).toBeNull();
  full.mockRestore();
  await userEvent.clear(box());
  expect(await screen.findByText("Every word is kept.")).toBeTruthy();
});
