// @vitest-environment jsdom
import { act, cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import * as api from "../api/calls";
import { ApiError } from "../api/client";
import { ticks } from "../api/clock";
import type { Conversation, Interrupt, Turn, TurnStatus } from "../api/types";
import { EMPTY } from "../log/turn";
import { useAnswers } from "../state/answers";
import { useConnection } from "../state/connection";
import { forgive } from "../state/doing";
import { forgetDrafts } from "../state/drafts";
import { NONE, useThread, type Entry } from "../state/thread";
import { Composer } from "./Composer";

vi.mock("../api/calls");
vi.mock("../state/opening");
// Long enough to be noticed, short enough for a test.
vi.mock("./asks/moment", () => ({ GUARD: 40 }));
vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined, removeEventListener: () => undefined }));

const box = () => screen.getByRole<HTMLTextAreaElement>("textbox");

beforeEach(() => {
  forgetDrafts();
  useAnswers.setState({}, true);
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

const APPROVAL = { kind: "approval", args: {}, agent: "a", name: "execute" } as const;
const becomes = (status: TurnStatus, pending: Partial<Interrupt>[] = []) => act(() => useThread.setState({ entries: [entry(status, pending)] }));
const sent = () => vi.mocked(api.send).mock.calls.map(([, body]) => body.content);
const CHANGES: [string, () => void][] = [
  ["a question has appeared", () => becomes("waiting", [{ ...APPROVAL, id: "q1" }])],
  ["the answer has ended", () => becomes("done")],
];

/** The cards of these questions, as far as the box knows them. */
const cards = (...ids: string[]) =>
  ids.map((id) => {
    const card = document.createElement("div");
    card.dataset.ask = id;
    return document.body.appendChild(card);
  });
afterEach(() => document.querySelectorAll("[data-ask]").forEach((card) => card.remove()));

describe.each(CHANGES)("in the moment in which %s", (_, change) => {
  beforeEach(() => {
    vi.mocked(api.send).mockReset().mockResolvedValue({ id: "c1", parent_id: null } as Turn);
    vi.mocked(api.stop).mockReset().mockResolvedValue({ stopped: true });
    useThread.setState({ entries: [entry("running")] });
    render(<Composer id="A" />);
    fireEvent.change(box(), { target: { value: "half a thought" } });
    cards("q1");
  });

  it("Enter does not send what it could not send before, and a line says so", async () => {
    change();
    fireEvent.keyDown(box(), { key: "Enter" });
    expect(sent()).toEqual([]);
    expect(box().value).toBe("half a thought");
    expect(screen.getByText(/^Not sent\. Something had just changed here/)).toBeTruthy();
    await waitFor(() => {
      fireEvent.keyDown(box(), { key: "Enter" });
      expect(sent()).toEqual(["half a thought"]);
    });
  });

  it("a click on Stop sends nothing, although the button is Send by then", async () => {
    const button = screen.getByRole("button", { name: "Stop" });
    change();
    expect(screen.getByRole("button", { name: "Send" })).toBe(button);
    fireEvent.click(button);
    expect(sent()).toEqual([]);
    expect(button.getAttribute("aria-disabled")).toBe("true");
    await waitFor(() => expect(button.hasAttribute("aria-disabled")).toBe(false));
    fireEvent.click(button);
    expect(sent()).toEqual(["half a thought"]);
  });
});

it("does not send in the moment in which a question takes the place of another one, or was answered", async () => {
  vi.mocked(api.send).mockReset().mockResolvedValue({ id: "c1", parent_id: null } as Turn);
  const steps: (() => void)[] = [
    () => becomes("waiting", [{ ...APPROVAL, id: "q2" }]),
    () => act(() => useAnswers.setState({ q2: { phase: "sending", decision: "approve" } })),
  ];
  cards("q1", "q2");
  becomes("waiting", [{ ...APPROVAL, id: "q1" }]);
  render(<Composer id="A" />);
  fireEvent.change(box(), { target: { value: "half a thought" } });
  for (const step of steps) {
    await waitFor(() => expect(screen.getByRole("button", { name: "Send" }).hasAttribute("aria-disabled")).toBe(false));
    step();
    fireEvent.keyDown(box(), { key: "Enter" });
    expect(sent()).toEqual([]);
  }
});

it("does not send before the question that it would refuse is on the page", async () => {
  vi.mocked(api.send).mockReset().mockResolvedValue({ id: "c1", parent_id: null } as Turn);
  becomes("waiting", [{ ...APPROVAL, id: "q1" }]);
  render(<Composer id="A" />);
  fireEvent.change(box(), { target: { value: "rather not" } });
  await new Promise((later) => setTimeout(later, 200));
  fireEvent.keyDown(box(), { key: "Enter" });
  expect(sent()).toEqual([]);
  cards("q1");
  await waitFor(() => {
    fireEvent.keyDown(box(), { key: "Enter" });
    expect(sent()).toEqual(["rather not"]);
  });
});

it("sends at once in a conversation that the person has just opened", () => {
  vi.mocked(api.send).mockReset().mockResolvedValue({ id: "c1", parent_id: null } as Turn);
  useThread.setState({ entries: [entry("running")] });
  const view = render(<Composer id="A" />);
  view.rerender(<Composer id="B" />);
  act(() => useThread.setState({ ...NONE, id: "B", phase: "ready" }, true));
  becomes("done");
  fireEvent.change(box(), { target: { value: "hello" } });
  fireEvent.keyDown(box(), { key: "Enter" });
  expect(sent()).toEqual(["hello"]);
});

it("sends nothing by a key that is held down", () => {
  vi.mocked(api.send).mockReset().mockResolvedValue({ id: "c1", parent_id: null } as Turn);
  render(<Composer id="A" />);
  fireEvent.change(box(), { target: { value: "half a thought" } });
  fireEvent.keyDown(box(), { key: "Enter", repeat: true });
  fireEvent.keyDown(box(), { key: "Enter", repeat: true, ctrlKey: true });
  // Where lines are made by Shift, a held key makes many.
  expect(fireEvent.keyDown(box(), { key: "Enter", repeat: true, shiftKey: true })).toBe(true);
  // A browser presses the button again and again.
  expect(fireEvent.keyDown(screen.getByRole("button", { name: "Send" }), { key: "Enter", repeat: true })).toBe(false);
  expect(sent()).toEqual([]);
  fireEvent.keyDown(box(), { key: "Enter" });
  expect(sent()).toEqual(["half a thought"]);
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

describe("a message that was not sent because the connection is lost", () => {
  const UNSENT = "The server did not answer. Send again: it cannot arrive twice.";
  const LOST = /^Connection lost, nothing else\. Next try in \d+ s\. /;
  const keepLine = () => document.querySelector(".keep > span:nth-child(2)")?.textContent;
  afterEach(() => useConnection.setState({ lost: null, back: null }));

  it("hides neither the next try nor that the connection is back", () => {
    useThread.setState({ fault: new ApiError(0, "unanswered", "") });
    useConnection.setState({ lost: { retryAt: ticks() + 60_000 } });
    render(<Composer id="A" />);
    expect(keepLine()).toMatch(LOST);
    expect(keepLine()).toContain(UNSENT);
    expect(screen.getByRole("button", { name: "Try now" })).toBeTruthy();
    act(() => useConnection.setState({ lost: null, back: { words: 0 } }));
    expect(keepLine()).toBe(`Connection is back. ${UNSENT}`);
    expect(screen.queryByRole("button", { name: "Try now" })).toBeNull();
    act(() => useConnection.setState({ back: null }));
    expect(keepLine()).toBe(UNSENT);
  });

  it("is told together with the next try while it is sent again and again", () => {
    useThread.setState({ sending: { content: "hello", parent: undefined, fault: null } });
    useConnection.setState({ lost: { retryAt: ticks() + 60_000 } });
    render(<Composer id="A" />);
    expect(keepLine()).toMatch(LOST);
    expect(keepLine()).toMatch(/Sending$/);
    expect(screen.getByRole("button", { name: "Try now" })).toBeTruthy();
  });
});
