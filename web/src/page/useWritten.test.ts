// @vitest-environment jsdom
import { act, cleanup, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { NO_MEMBERS, read } from "../log/members";
import { EMPTY, transcript } from "../log/turn";
import { NONE, useThread, type Entry, type Thread } from "../state/thread";
import { moved, openDocument, useView } from "../state/view";
import { useWritten } from "./useWritten";

let narrow = false;
vi.stubGlobal("matchMedia", () => ({ matches: narrow, addEventListener: () => undefined, removeEventListener: () => undefined }));

function entry(turn: string, document: string | null): Entry {
  const members = read(NO_MEMBERS, `{"id": "${document}", "content": "wor`);
  const calls = document === null ? [] : [{ index: 0, name: "create_artifact", members }];
  return { turn: { id: turn } as Entry["turn"], log: { ...EMPTY, status: "running", drafts: [{ call: 1, agent: "a", parent: null, text: "", reasoning: "", calls, at: 1 }] } };
}
const write = (turn: string, document: string | null): void => act(() => useThread.setState({ ...NONE, id: "A", phase: "ready", entries: [entry(turn, document)] }, true));
const shown = () => useView.getState().document;

beforeEach(() => {
  narrow = false;
  moved();
  write("t1", null);
  renderHook(useWritten);
});
afterEach(cleanup);

it("a document opens when it begins to be written, and does not take the focus", () => {
  const box = document.body.appendChild(document.createElement("input"));
  box.focus();
  write("t1", "plan");
  expect(shown()).toBe("plan");
  expect(document.activeElement).toBe(box);
});

it("a document that is open stays", () => {
  act(() => openDocument("other"));
  write("t1", "plan");
  expect(shown()).toBe("other");
});

it("who closes it sees none until the next turn", () => {
  write("t1", "plan");
  act(() => openDocument(null));
  write("t1", null);
  write("t1", "plan");
  write("t1", "second");
  expect(shown()).toBeNull();
  write("t2", "third");
  expect(shown()).toBe("third");
});

const call = { id: "c1", name: "create_artifact", args: { id: "plan", content: "words" } };
function written(turn: string): Entry {
  const said = transcript({ ...EMPTY, drafts: [{ call: 1, agent: "a", parent: null, text: "Here", reasoning: "", calls: [], at: 1 }] });
  return { ...entry(turn, null), log: { ...EMPTY, status: "done", finished: said.map((message) => ({ ...message, tool_calls: [call] })) } };
}
const show = (more: Partial<Thread>): void => act(() => useThread.setState(more));

it("a document that was written between two sights of the page opens too", () => {
  show({ entries: [written("t1")] });
  expect(shown()).toBe("plan");
});

it("an answer that is over when it is first seen shows its document, if this page has asked for it", () => {
  show({ entries: [], sending: { content: "write", parent: undefined, fault: null } });
  show({ entries: [written("t2")], sending: null });
  expect(shown()).toBe("plan");
});

it("the documents of a conversation that is opened stay closed", () => {
  show({ entries: [] });
  show({ entries: [written("t2")] });
  expect(shown()).toBeNull();
});

it("on a narrow screen nothing opens", () => {
  cleanup();
  narrow = true;
  renderHook(useWritten);
  write("t1", "plan");
  expect(shown()).toBeNull();
});
