import { describe, expect, it } from "vitest";

import type { SeenTurn } from "../api/types";
import type { UnknownEvent } from "./events";
import { fromSnapshot } from "./snapshot";
import { EMPTY, reduce, type TurnLog } from "./turn";
import { writtenDocuments } from "./written";

const TEXT = '{"id": "plan", "title": "The plan", "content_type": "markdown", "content": "# Plan\\n\\nwords"}';
const ARGS = JSON.parse(TEXT) as Record<string, unknown>;
const DOCUMENT = { id: "plan", title: "The plan", type: "markdown", content: "# Plan\n\nwords" };
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
