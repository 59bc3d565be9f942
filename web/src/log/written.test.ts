import { describe, expect, it } from "vitest";

import type { SeenTurn } from "../api/types";
import type { UnknownEvent } from "./events";
import { fromSnapshot } from "./snapshot";
import { EMPTY, reduce, type TurnLog } from "./turn";
import { beingWritten, writtenDocuments } from "./written";

const TEXT = '{"id": "plan", "title": "The plan", "content_type": "markdown", "content": "# Plan\\n\\nwords"}';
const ARGS = JSON.parse(TEXT) as Record<string, unknown>;
const DOCUMENT = { id: "plan", title: "The plan", type: "markdown", content: "# Plan\n\nwords", updates: [] };
const UPDATE = '{"id": "plan", "old": "words", "new": "better words"}';
const BEGUN: [string, Record<string, unknown>][] = [
  ["run_started", { agent: "a", segment: 1, cause: "start", epoch: 1 }],
  ["model_started", { call: 1, agent: "a", model: "demo", parent: null, ref: "" }],
];
const CALL = { id: "c1", name: "create_artifact", args: ARGS };
const ENDED: [string, Record<string, unknown>][] = [
  ["model_finished", { call: 1, tool_calls: [CALL], usage: null, finish_reason: null }],
  ["tool_started", { ...CALL, agent: "a", parent: null }],
  ["artifact_changed", { id: "plan", version: 1, update_type: "create", agent: "a", parent: null }],
  ["tool_finished", { id: "c1", name: CALL.name, output: "", status: "ok", agent: "a", parent: null }],
];

function log(events: [string, Record<string, unknown>][], from: TurnLog = EMPTY): TurnLog {
  return events.map(([name, data], index): UnknownEvent => ({ id: from.seq + index + 1, name, data: { at: 1, ...data } })).reduce(reduce, from);
}

const delta = (text: string, name = ""): [string, Record<string, unknown>] => ["call_delta", { call: 1, index: 0, text, name }];
const found = (state: TurnLog, version = 0) => writtenDocuments(state, new Map([["plan", version]]));

describe("a document that is written", () => {
  it("grows with every piece, from its id and first word on", () => {
    let state = log([...BEGUN, delta("", "create_artifact")]);
    const seen = [...TEXT].map((sign) => {
      state = log([delta(sign)], state);
      return found(state)[0]?.content ?? null;
    });
    expect([...new Set(seen)].slice(0, 3)).toEqual([null, "", "#"]);
    expect(found(state)).toEqual([DOCUMENT]);
  });

  it("is there without a gap until this page knows its version", () => {
    const pieces = [delta(TEXT, "create_artifact")];
    for (let count = 0; count <= ENDED.length; count += 1) expect(found(log([...BEGUN, ...pieces, ...ENDED.slice(0, count)]))).toEqual([DOCUMENT]);
    expect(found(log([...BEGUN, ...pieces, ...ENDED]), 1)).toEqual([]);
  });

  it("is not there when its call was refused, is waiting or was stopped", () => {
    const refused = ["tool_finished", { id: "c1", name: CALL.name, output: "", status: "refused", agent: "a", parent: null }] as [string, Record<string, unknown>];
    expect(found(log([...BEGUN, ENDED[0]!, refused]))).toEqual([]);
    expect(found(log([...BEGUN, ENDED[0]!, ["interrupted", { interrupts: [] }]]))).toEqual([]);
    expect(found(log([...BEGUN, delta(TEXT, "create_artifact"), ["stopped", { reason: "user" }]]))).toEqual([]);
    expect(found(log([...BEGUN, delta(TEXT, "write_file")]))).toEqual([]);
  });

  it("goes on after a snapshot in the middle", () => {
    const half = TEXT.length - 8;
    const snapshot = {
      ...{ cursor: 9, status: "running", messages: [], running_tools: [], interrupts: [], notes: [], ended_at: null, usage: null, model: "demo" },
      writing_tools: [{ call: 1, index: 0, name: "create_artifact", text: TEXT.slice(0, half), agent: "a", parent: null }],
    } as unknown as SeenTurn;
    const state = fromSnapshot(snapshot);
    expect(found(state)[0]?.content).toBe("# Plan\n");
    expect(found(log([delta(TEXT.slice(half))], state))).toEqual([DOCUMENT]);
    expect(log([ENDED[0]!], state).stale).toBe(false);
  });
});

describe("a part of a document that is replaced", () => {
  it("tells what goes before it tells what comes, letter by letter", () => {
    let state = log([...BEGUN, delta("", "update_artifact")]);
    const seen = [...UPDATE].map((sign) => {
      state = log([delta(sign)], state);
      return JSON.stringify(found(state, 1)[0]?.updates[0] ?? null);
    });
    const steps = [...new Set(seen)].map((item) => JSON.parse(item) as unknown);
    expect(steps.slice(0, 3)).toEqual([null, { old: "", whole: false, new: null }, { old: "w", whole: false, new: null }]);
    expect(steps).toContainEqual({ old: "words", whole: true, new: null });
    expect(steps.at(-1)).toEqual({ old: "words", whole: true, new: "better words" });
    expect(found(state, 1)).toMatchObject([{ id: "plan", content: null }]);
  });

  it("comes on top of what this page does not know yet, and of nothing that it knows", () => {
    const update = (id: string, old: string, next: string) => ({ id, name: "update_artifact", args: { id: "plan", old, new: next } });
    const calls = [CALL, update("c2", "words", "a word"), update("c3", "a word", "b")];
    const made = calls.flatMap(({ id, name }, index): [string, Record<string, unknown>][] => [
      ["artifact_changed", { id: "plan", version: index + 1, update_type: "update", agent: "a", parent: null }],
      ["tool_finished", { id, name, output: "", status: "ok", agent: "a", parent: null }],
    ]);
    const state = log([...BEGUN, ["model_finished", { call: 1, tool_calls: calls, usage: null, finish_reason: null }], ...made]);
    expect(found(state, 0)).toMatchObject([{ content: "# Plan\n\nwords", updates: [{ old: "words" }, { old: "a word" }] }]);
    expect(found(state, 1)).toMatchObject([{ content: null, updates: [{ old: "words" }, { old: "a word" }] }]);
    expect(found(state, 2)).toMatchObject([{ content: null, updates: [{ old: "a word", new: "b" }] }]);
    expect(found(state, 3)).toEqual([]);
  });
});

it("a document begins to be written with its first word, and no longer when its call is complete", () => {
  expect(beingWritten(log([...BEGUN, delta('{"id": "plan"', "create_artifact")]))).toBeNull();
  for (const [name, text] of [["create_artifact", TEXT], ["update_artifact", UPDATE]] as const) {
    const writing = log([...BEGUN, delta(text.slice(0, -2), name)]);
    expect(beingWritten(writing)).toBe("plan");
    expect(beingWritten(log([ENDED[0]!], writing))).toBeNull();
  }
  expect(beingWritten(log([...BEGUN, delta(TEXT, "write_file")]))).toBeNull();
});
