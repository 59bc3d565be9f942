import { readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import type { Interrupt } from "../api/types";
import { answerText, blocks, type Block } from "./blocks";
import type { UnknownEvent } from "./events";
import { EMPTY, reduce } from "./turn";

const AGENTS = new Set(["search_agent"]);

function log(...events: [string, Record<string, unknown>][]) {
  return events.map(([name, data], index): UnknownEvent => ({ id: index + 1, name, data: { at: index * 1000, ...data } })).reduce(reduce, EMPTY);
}

function kinds(found: Block[]): string[] {
  return found.map((block) => block.kind);
}

const RUN: [string, Record<string, unknown>] = ["run_started", { agent: "a", segment: 1, cause: "start", epoch: 1 }];
const model = (call: number, parent: string | null = null): [string, Record<string, unknown>] => ["model_started", { call, agent: "a", model: "demo", parent, ref: "" }];
const text = (call: number, words: string): [string, Record<string, unknown>] => ["text_delta", { call, text: words }];
const spoken = (call: number, ...calls: [string, string][]): [string, Record<string, unknown>] => [
  "model_finished",
  { call, tool_calls: calls.map(([id, name]) => ({ id, name, args: { path: id } })), usage: { input_tokens: 1 }, finish_reason: null },
];
const started = (id: string, name: string, parent: string | null = null): [string, Record<string, unknown>] => ["tool_started", { id, name, args: {}, agent: "a", parent }];
const finished = (id: string, status = "ok", parent: string | null = null): [string, Record<string, unknown>] => ["tool_finished", { id, name: "t", output: "out", status, agent: "a", parent }];
const ask = (id: string, call: string, parent: string | null = null): Interrupt =>
  ({ id, kind: "approval", tool_call_id: call, name: "t", args: {}, agent: "a", parent, decisions: ["approve"] }) as unknown as Interrupt;

describe("the blocks of an answer", () => {
  it("tell that the person refused to answer, whatever the call returned", () => {
    const interrupt = { ...ask("q1", "c1"), kind: "questions" };
    const over = (decision: string): [string, Record<string, unknown>][] => [
      RUN,
      model(1),
      spoken(1, ["c1", "ask_user"]),
      started("c1", "ask_user"),
      ["interrupted", { interrupts: [interrupt] }],
      ["interrupt_closed", { id: "q1", outcome: "answered", answer: { decision }, message: null }],
      ["tool_finished", { id: "c1", name: "ask_user", output: "out", status: "ok", agent: "a", parent: null }],
    ];
    expect(blocks(log(...over("reject")), AGENTS)[0]).toMatchObject({ tools: [{ state: "refused" }] });
    expect(blocks(log(...over("answers")), AGENTS)[0]).toMatchObject({ tools: [{ state: "ok" }] });
  });

  it("a running call shows what it told last, until it ends or runs again", () => {
    const progress = (text: string): [string, Record<string, unknown>] => ["tool_progress", { id: "c1", text }];
    const shown = (...events: [string, Record<string, unknown>][]) => {
      const tools = blocks(log(RUN, model(1), spoken(1, ["c1", "refund"]), started("c1", "refund"), ...events), new Set()).find((block) => block.kind === "tools");
      return tools?.kind === "tools" ? tools.tools[0]?.progress : undefined;
    };
    expect(shown()).toBeNull();
    expect(shown(progress("one"), progress("two"))).toBe("two");
    expect(shown(progress("one"), ["run_started", { agent: "a", segment: 1, cause: "adopt", epoch: 2 }])).toBeNull();
    expect(shown(progress("one"), ["tool_finished", { id: "c1", name: "refund", output: "", status: "ok", agent: "a", parent: null }])).toBeNull();
  });

  it("put calls that follow each other into one card, and tell how each went", () => {
    const found = blocks(log(RUN, model(1), spoken(1, ["c1", "read_file"]), started("c1", "read_file"), finished("c1"), model(2), spoken(2, ["c2", "execute"], ["c3", "execute"]), started("c2", "execute")), AGENTS);
    expect(kinds(found)).toEqual(["tools"]);
    expect(found[0]).toMatchObject({ tools: [{ id: "c1", state: "ok", ms: 1000 }, { id: "c2", state: "running" }, { id: "c3", state: "next" }] });
  });

  it("say of a call without a result what a snapshot says of it once the turn is stopped", () => {
    const events = [RUN, model(1), spoken(1, ["c1", "write_file"], ["c2", "write_file"]), started("c1", "write_file"), ["interrupted", { interrupts: [ask("i1", "c2")] }], ["interrupt_closed", { id: "i1", outcome: "cancelled", answer: {}, message: null }], ["stopped", { reason: "user" }]] as [string, Record<string, unknown>][];
    const source = readFileSync(join(import.meta.dirname, "../../../src/caesura/core/fold.py"), "utf8");
    const told = (name: string) => new RegExp(`^${name} = "(.*)"$`, "m").exec(source)?.[1];
    const [tools] = blocks(log(...events), AGENTS).filter((block) => block.kind === "tools");
    expect(tools?.tools.map(({ state, output }) => [state, output])).toEqual([["unknown", told("UNKNOWN")], ["not_done", told("NOT_DONE")]]);
  });

  it("show a call while the model writes it, in the same row as later", () => {
    const delta = (index: number, words: string, name = ""): [string, Record<string, unknown>] => ["call_delta", { call: 1, index, text: words, name }];
    const base: [string, Record<string, unknown>][] = [RUN, model(1), text(1, "hm"), delta(0, '{"path": "a.t', "write_file"), delta(1, '{"id": "x"', "create_artifact"), delta(0, 'xt", "content": "one\\')];
    const found = blocks(log(...base), AGENTS);
    expect(kinds(found)).toEqual(["text", "tools"]);
    expect(found[1]).toMatchObject({ tools: [{ name: "write_file", state: "writing", args: { path: "a.txt", content: "one" } }, { name: "create_artifact", args: { id: "x" } }] });
    const done = blocks(log(...base, spoken(1, ["c1", "write_file"], ["c2", "create_artifact"])), AGENTS);
    const keys = (block: Block | undefined) => (block?.kind === "tools" ? [block.key, ...block.tools.map((tool) => tool.key)] : []);
    expect(keys(done[1])).toEqual(keys(found[1]));
    expect(done[1]).toMatchObject({ tools: [{ id: "c1", state: "next" }, { id: "c2" }] });
    expect(kinds(blocks(log(...base, ["stopped", { reason: "user" }]), AGENTS))).toEqual(["text"]);
    expect(kinds(blocks(log(...base, ["text_voided", { call: 1 }]), AGENTS))).toEqual([]);
  });

  it("show the arguments that a person edited, and those that the model gave", () => {
    const base: [string, Record<string, unknown>][] = [RUN, model(1), spoken(1, ["c1", "execute"], ["c2", "execute"]), started("c1", "execute"), ["tool_started", { id: "c2", name: "execute", args: { path: "c2" }, agent: "a", parent: null }]];
    const tools = [{ args: {}, wanted: { path: "c1" } }, { args: { path: "c2" }, wanted: null }];
    expect(blocks(log(...base), AGENTS)[0]).toMatchObject({ tools });
    expect(blocks(log(...base, finished("c1"), finished("c2")), AGENTS)[0]).toMatchObject({ tools });
  });

  it("show a call that had begun when the turn ended as unknown, and one that had not as not done", () => {
    const found = blocks(log(RUN, model(1), spoken(1, ["c1", "execute"], ["c2", "execute"]), started("c1", "execute"), ["stopped", { reason: "user" }]), AGENTS);
    expect(found[0]).toMatchObject({ tools: [{ state: "unknown" }, { state: "not_done" }] });
  });

  it("draw the question in place of its call, and the pause after it once it is answered", () => {
    const open = log(RUN, model(1), text(1, "hm"), spoken(1, ["c1", "execute"]), ["interrupted", { interrupts: [ask("i1", "c1")] }]);
    expect(kinds(blocks(open, AGENTS))).toEqual(["text", "ask"]);
    const closed = { id: 6, name: "interrupt_closed", data: { at: 9000, id: "i1", outcome: "answered", answer: { decision: "approve" }, message: null } };
    const after = blocks(reduce(open, closed), AGENTS);
    expect(kinds(after)).toEqual(["text", "tools", "note"]);
    expect(after[2]).toMatchObject({ note: { ms: 5000, outcome: "approve" } });
  });

  it("count no time in which the turn waited for the person", () => {
    const asked = [ask("q1", "c2", "c1"), ask("q2", "c3", "c1")];
    const closed = (id: string): [string, Record<string, unknown>] => ["interrupt_closed", { id, outcome: "answered", answer: { decision: "approve" }, message: null }];
    // The call begins at 3 s. Both questions are asked at 6 s, and answered at 7 and 8 s.
    const base: [string, Record<string, unknown>][] = [RUN, model(1), spoken(1, ["c1", "search_agent"]), started("c1", "search_agent"), model(2, "c1"), spoken(2, ["c2", "t"], ["c3", "t"]), ["interrupted", { interrupts: asked }]];
    const waiting = blocks(log(...base), AGENTS)[0];
    expect(waiting).toMatchObject({ waits: true });
    const answers = [closed("q1"), closed("q2")];
    expect(blocks(log(...base, closed("q1")), AGENTS)[0]).toMatchObject({ waits: true });
    expect(blocks(log(...base, ...answers), AGENTS)[0]).toMatchObject({ waits: false, tool: { since: 5000 } });
    const ended = blocks(log(...base, ...answers, finished("c1")), AGENTS).find((block) => block.kind === "agent");
    expect(ended).toMatchObject({ tool: { ms: 4000 } });
  });

  it("nest what a sub-agent says, does and asks under its call", () => {
    const base: [string, Record<string, unknown>][] = [RUN, model(1), spoken(1, ["c1", "search_agent"]), started("c1", "search_agent"), model(2, "c1"), text(2, "inner"), spoken(2, ["c2", "web_fetch"])];
    const found = blocks(log(...base, ["interrupted", { interrupts: [ask("i1", "c2", "c1")] }]), AGENTS);
    expect(kinds(found)).toEqual(["agent"]);
    expect(found[0]?.kind === "agent" && kinds(found[0].inner)).toEqual(["text", "ask"]);
  });

  it("gather several questions in one card at the end", () => {
    const found = blocks(log(RUN, model(1), spoken(1, ["c1", "execute"], ["c2", "execute"]), ["interrupted", { interrupts: [ask("i1", "c1"), ask("i2", "c2")] }]), AGENTS);
    expect(kinds(found)).toEqual(["ask"]);
  });

  it("mark a restart, and drop the words that were begun before it", () => {
    const found = blocks(log(RUN, model(1), text(1, "lost"), ["run_started", { agent: "a", segment: 1, cause: "adopt", epoch: 2 }], ["text_voided", { call: 1 }], model(2), text(2, "new")), AGENTS);
    expect(found.map((block) => (block.kind === "text" ? block.text : block.kind))).toEqual(["note", "new"]);
  });

  it("put the reader's mark after what they had read", () => {
    const state = log(RUN, model(1), text(1, "one"), spoken(1), model(2), text(2, "two"), spoken(2));
    expect(kinds(blocks(state, AGENTS, { messages: 1, characters: 0 }))).toEqual(["text", "mark", "text"]);
    expect(kinds(blocks(state, AGENTS, { messages: 2, characters: 0 }))).toEqual(["text", "text", "mark"]);
  });

  it("put the reader's mark into the answer in which they left", () => {
    const draft = log(RUN, model(1), text(1, "one"), spoken(1), model(2), text(2, "two and more"));
    const ended = log(RUN, model(1), text(1, "one"), spoken(1), model(2), text(2, "two and more"), spoken(2, ["c1", "execute"]), model(3), text(3, "three"));
    for (const state of [draft, ended]) {
      const found = blocks(state, AGENTS, { messages: 1, characters: 4 });
      expect(kinds(found)).not.toContain("mark");
      expect(found.slice(0, 2)).toMatchObject([{ left: null }, { text: "two and more", left: 4 }]);
    }
    const whole = blocks(ended, AGENTS, { messages: 1, characters: 12 });
    expect(kinds(whole)).toEqual(["text", "text", "mark", "tools", "text"]);
    expect(whole[1]).toMatchObject({ left: null });
  });

  it("keep the key of a message when it ends, so that it is not drawn anew", () => {
    const live = blocks(log(RUN, model(1), text(1, "one")), AGENTS);
    const ended = blocks(log(RUN, model(1), text(1, "one"), spoken(1)), AGENTS);
    expect(ended[0]?.key).toBe(live[0]?.key);
  });
});

describe("the text of an answer", () => {
  it("has the words of the agent itself only", () => {
    const state = log(RUN, model(1), text(1, "one"), spoken(1, ["c1", "search_agent"]), started("c1", "search_agent"), model(2, "c1"), text(2, "inner"), spoken(2), finished("c1"), model(3), text(3, "two"));
    expect(answerText(state)).toBe("one\n\ntwo");
  });
});
