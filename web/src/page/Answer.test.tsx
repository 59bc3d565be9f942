// @vitest-environment jsdom
import { cleanup, render, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";

import type { Note } from "../api/types";
import { EMPTY, type LogMessage, type TurnLog } from "../log/turn";
import { useAgents } from "../state/agents";
import { useThread, type Entry } from "../state/thread";
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

const pause = (id: string, more: Partial<Note>) => ({ kind: "pause", after: 1, at: 1000, ms: 6000, outcome: "approve", interrupt_id: `q${id}`, tool_call_id: id, asked: "approval", tool: "write_file", always: null, answers: null, ...more }) as unknown as Note;
const rail = () => [...document.querySelectorAll(".note > span:not(.at)")].map((line) => line.textContent);
const writes = (...paths: string[]) => ({ ...said(""), tool_calls: paths.map((path) => ({ id: path, name: "write_file", args: { path } })) }) as unknown as LogMessage;

it("one pause with different answers is one line that names them", () => {
  const notes = [pause("a.txt", {}), pause("b.txt", { outcome: "reject", ms: 4000 })];
  show(entry({ finished: [writes("a.txt", "b.txt"), result("a.txt", "ok"), result("b.txt", "refused")], notes }));
  expect(rail()).toEqual(["Paused 6 s · you approved: a.txt · you refused: b.txt"]);
});

it.each([
  ["gpt-4o-mini", null, false, "gpt-4o-mini · "],
  ["gpt-4o-mini", "the first choice", false, "gpt-4o-mini · "],
  [null, "gpt-4o-mini", false, "gpt-4o-mini · "],
  ["", "", false, ""],
  [" ", null, false, ""],
  [null, null, false, ""],
  ["demo", "demo", true, ""],
  ["a\u202eb", null, false, "a\\u202eb · "],
])("the line below a reply names the model that answered, if there is a name: %#", (model, planned, demo, told) => {
  const one = entry({ finished: [said("first")], model });
  show({ ...one, turn: { ...one.turn, model: planned, demo } });
  expect(document.querySelector(".acts .num")?.textContent).toBe(`${told}${words("en").clock(1)}`);
});

const calls = (...made: [id: string, name: string, args: Record<string, unknown>][]) => ({ ...said(""), tool_calls: made.map(([id, name, args]) => ({ id, name, args })) }) as unknown as LogMessage;

it("a pause names the calls of several tools in one way, as they were made", () => {
  const made = calls(["1", "send_mail", { to: "bob" }], ["2", "send_mail", { to: "eve" }], ["3", "delete_mail", { number: 7 }], ["4", "write_file", { path: "a.txt" }]);
  const edited = { ...result("1", "ok"), args: { to: "ben" } } as LogMessage;
  const notes = [
    pause("1", { outcome: "edit", tool: "send_mail" }),
    pause("2", { outcome: "respond", tool: "send_mail" }),
    pause("3", { outcome: "reject", tool: "delete_mail" }),
    pause("4", { outcome: "reject" }),
  ];
  show(entry({ finished: [made, edited, result("2", "answered"), result("3", "refused"), result("4", "refused")], notes }));
  expect(rail()).toEqual(["Paused 6 s · you approved with changes: send_mail ben · you answered: send_mail eve · you refused: delete_mail 7, Write file a.txt"]);
});

it("a pause with a question that has no call says only what the person did", () => {
  const notes = [pause("1", { tool: "send_mail" }), pause("", { asked: "graph", outcome: "value", tool: null, tool_call_id: null })];
  show(entry({ finished: [calls(["1", "send_mail", { to: "bob" }]), result("1", "ok")], notes }));
  expect(rail()).toEqual(["Paused 6 s · you approved: send_mail bob · you answered"]);
});

it.each([
  ["refused", "Not done: the person refused this call. They said: not now", "You refused: “not now”"],
  ["refused", "User rejected the tool call for `t` with reason: not\nnow", "You refused: “not\\nnow”"],
  ["refused", "User rejected the tool call for `t` with id 1. The tool was not executed.", undefined],
  ["refused", "Not allowed here.", undefined],
  ["answered", "She knows \u202eit.", "You answered: “She knows \\u202eit.”"],
])("a call that the person did not want is no failure: %s %#", (state, content, below) => {
  show(entry({ finished: [calls(["1", "t", { number: 7 }]), { ...result("1", state), content }] }));
  const row = document.querySelector(".tool > summary");
  expect(row?.textContent).toContain("t7");
  expect(row?.querySelector(".fail")).toBeNull();
  expect(document.querySelector(".tool-sub")?.textContent).toBe(below);
  expect(document.querySelector(".tool-sub.fail")).toBeNull();
});

it("what the person answered in place of a call is called theirs", async () => {
  show(entry({ finished: [calls(["1", "t", {}]), { ...result("1", "answered"), content: "She knows it." }] }));
  const row = document.querySelector("details.tool") as HTMLDetailsElement;
  row.open = true;
  await waitFor(() => expect([...row.querySelectorAll("h4")].map((head) => head.textContent)).toEqual(["Input", "Your answer"]));
  // It is not said twice.
  expect(document.querySelector(".tool-sub")).toBeNull();
});

it.each([
  [{ asked: "confirmation", outcome: "fields" }, "you confirmed"],
  [{ asked: "confirmation", outcome: "reject" }, "you did not confirm"],
  [{ asked: "questions", outcome: "reject" }, "you did not answer"],
  [{ always: true }, "you approved, always for write_file"],
])("a pause says what the person did %#", (more, text) => {
  show(entry({ finished: [writes("a.txt"), result("a.txt", "ok")], notes: [pause("a.txt", more)] }));
  expect(rail()).toEqual([`Paused 6 s · ${text}`]);
});

it("a call for which nobody was asked, because its tool was allowed, says so, also in a later turn", () => {
  const first = entry({ finished: [writes("a.txt", "b.txt"), result("a.txt", "ok"), result("b.txt", "ok")], notes: [pause("a.txt", { always: true })] });
  show(first);
  expect([...document.querySelectorAll(".tool")].map((row) => row.textContent?.includes("always allowed"))).toEqual([false, true]);
  cleanup();
  const later = { ...entry({ finished: [writes("c.txt"), result("c.txt", "ok")] }), turn: { ...first.turn, id: "t2" } };
  useThread.setState({ entries: [first, later] });
  show(later);
  expect(screen.getByText("always allowed")).toBeTruthy();
  useThread.setState({ entries: [] });
});

it("answers to questions can be read after they were given", async () => {
  const asked = { ...said(""), tool_calls: [{ id: "c", name: "ask_user", args: { questions: [] } }] } as unknown as LogMessage;
  const answers = [{ question: "Which colour?", answer: "Red" }, { question: "Which animal?", answer: "an own one" }];
  show(entry({ finished: [asked, result("c", "ok")], notes: [pause("c", { asked: "questions", outcome: "answers", tool: "ask_user", answers })] }));
  const row = document.querySelector("details.tool") as HTMLDetailsElement;
  expect(row.querySelector("summary")?.textContent).toContain("Red · an own one");
  row.open = true;
  await waitFor(() => expect(row.querySelector("dl")?.textContent).toBe("Which colour?RedWhich animal?an own one"));
});

it("the answer to a confirmation does not look like a message of the person", () => {
  const reply = { ...said("Yes, I confirm. Go ahead."), role: "user" } as unknown as LogMessage;
  show(entry({ finished: [said("May I?"), reply] }));
  expect(document.querySelector(".bubble")).toBeNull();
  expect(document.querySelector(".reply")?.textContent).toBe("Your answerYes, I confirm. Go ahead.");
});

it("a run that was interrupted is told with the time at which it went on, whether this page saw that or loaded it", () => {
  const at = new Date(2026, 1, 1, 19, 14).getTime();
  const note = { kind: "restart", after: 1, at, ms: 93_000, outcome: null, interrupt_id: null, tool_call_id: null } as unknown as Note;
  for (const ms of [93_000, null]) {
    show(entry({ finished: [said("first"), said("second")], notes: [{ ...note, ms }] }));
    expect(screen.getByText("Interrupted on the server · went on from here by itself")).toBeTruthy();
    expect(screen.getByText(words("en").clock(at))).toBeTruthy();
    cleanup();
  }
});

it("an answer without words has nothing to copy", () => {
  show(entry({ finished: [said("")] }));
  expect(screen.queryByRole("button", { name: "Copy" })).toBeNull();
  cleanup();
  show(entry({ finished: [said("words")] }));
  expect(screen.getByRole("button", { name: "Copy" })).toBeTruthy();
});

it.each(["stopped", "failed", "done"] as const)("an earlier answer that is %s can be asked for again", (status) => {
  show(entry({ status, finished: [said("half")] }), null, false);
  expect(screen.getByRole("button", { name: "Answer again" })).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Try again" })).toBeNull();
});

it("the newest answer that was stopped is tried again in its place", () => {
  show(entry({ status: "stopped", finished: [said("half")], notes: [{ kind: "stopped", outcome: "user" } as unknown as Note] }));
  expect(screen.getByRole("button", { name: "Try again" })).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Answer again" })).toBeNull();
});

it.each([
  ["model", "the model broke off", "The model broke off", "The model gave no usable answer."],
  ["model", "the model is not available: its provider failed", "The model is not available right now", "Nothing you said is lost."],
  ["model_unavailable", "the agent's model is not available: the server's log says why", "The model is not available right now", "Nothing you said is lost."],
  ["model", "the conversation is too long for the model", "This did not work", "The conversation is too long for the model."],
])("a failed turn is called by what failed (%s, %s)", (outcome, message, title, text) => {
  show(entry({ status: "failed", notes: [{ kind: "failed", after: 0, outcome, message } as unknown as Note] }));
  expect(screen.getByRole("heading").textContent).toBe(title);
  expect(document.querySelector(".over p")?.textContent.trim()).toMatch(new RegExp(`^${text.replaceAll(".", "\\.")}`));
});

it("an opened row tells its error once", async () => {
  show(entry({ finished: [said("", [["c1", "read_file"]]), { ...result("c1", "error"), content: "no such file" }] }));
  expect(screen.getAllByText("no such file")).toHaveLength(1);
  (document.querySelector("details.tool") as HTMLDetailsElement).open = true;
  await screen.findByText("Output");
  expect(screen.getAllByText("no such file")).toHaveLength(1);
});

it("a sub-agent that asks waits for the person, and its time stands still", () => {
  useAgents.setState({ names: new Set(["helper"]) });
  const running = [{ id: "c1", name: "helper", args: {}, edited: false, agent: "a", parent: null, progress: null, at: 0 }];
  // Two questions are one card at the end: none stands below its sub-agent.
  const pending = ["q1", "q2"].map((id) => ({ id, kind: "approval", parent: "c1", tool_call_id: id, name: "t", args: {}, decisions: [] }));
  const page = show(entry({ status: "waiting", finished: [said("", [["c1", "helper"]])], running, pending: pending as unknown as TurnLog["pending"] }));
  const row = page.querySelector(".sub-agent > summary");
  expect(row?.querySelector(".spin")).toBeNull();
  expect(row?.querySelector(".state.waits .bars")).not.toBeNull();
  expect(row?.querySelector(".time")?.textContent).toBe("waits for you");
});

it("thoughts say how long they took, if that is known, and not while they last", () => {
  const thought = (ms: number | null) => ({ ...said("done"), reasoning: "hm", ms }) as unknown as LogMessage;
  for (const [ms, title] of [[74_600, "Thought for 1 min 15 s"], [3400, "Thought for 3 s"], [20, "Thought for 1 s"], [null, "Thoughts"]] as const) {
    show(entry({ finished: [thought(ms)] }));
    expect(document.querySelector(".think summary")?.textContent).toBe(title);
    cleanup();
  }
  show(entry({ status: "running", drafts: [{ call: 1, agent: "a", parent: null, text: "", reasoning: "hm", calls: [], at: 1 }] }));
  expect(document.querySelector(".think summary")?.textContent).toBe("Thinking");
});
