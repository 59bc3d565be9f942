// @vitest-environment jsdom
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import * as api from "../api/calls";
import { ApiError } from "../api/client";
import type { Conversation, Turn } from "../api/types";
import { forgetDrafts } from "../state/drafts";
import { NONE, useThread } from "../state/thread";
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
