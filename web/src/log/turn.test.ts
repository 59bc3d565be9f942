import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { isKnown, type UnknownEvent } from "./events";
import { EMPTY, reduce, transcript, type LogMessage, type TurnLog } from "./turn";

interface Scenario {
  about: string;
  transcript: Record<string, unknown>[];
  artifacts?: Record<string, number>;
  frames: { native: [number, string, unknown][] };
}

const LOGS = join(import.meta.dirname, "../../../tests/scenarios/logs");
const SCENARIOS = readdirSync(LOGS).map((file) => [file.replace(".json", ""), JSON.parse(readFileSync(join(LOGS, file), "utf8")) as Scenario] as const);

function eventsOf(scenario: Scenario): UnknownEvent[] {
  return scenario.frames.native.map(([id, name, data]) => ({ id, name, data }));
}

function fold(events: UnknownEvent[], from: TurnLog = EMPTY): TurnLog {
  return events.reduce(reduce, from);
}

/** As the scenario files have them: without members that have their usual value. */
function plain(message: LogMessage): Record<string, unknown> {
  const { role, content, reasoning, tool_calls, tool_call_id, name, status, agent, parent, cut, args, usage } = message;
  const usual: Record<string, unknown> = { reasoning: "", tool_call_id: null, name: null, status: "ok", agent: "", parent: null, cut: false, args: null, usage: null };
  const members = Object.entries({ reasoning, tool_call_id, name, status, agent, parent, cut, args, usage }).filter(([key, value]) => (value ?? null) !== usual[key]);
  return { role, content, ...Object.fromEntries(members), ...(tool_calls.length > 0 ? { tool_calls } : {}) };
}

describe.each(SCENARIOS)("the scenario %s", (_, scenario) => {
  const events = eventsOf(scenario);
  const whole = fold(events);

  it("is folded to the same messages as on the server", () => {
    expect(transcript(whole).map(plain)).toEqual(scenario.transcript);
    expect(Object.fromEntries(whole.documents.map(({ id, version }) => [id, version]))).toEqual(scenario.artifacts ?? {});
    expect(whole.stale).toBe(false);
  });

  it("uses events that this page knows", () => {
    expect(events.every(isKnown)).toBe(true);
  });

  it("is not harmed by an event of a newer server", () => {
    for (let cut = 0; cut <= events.length; cut += 1) {
      const later = events.slice(cut).map((event) => ({ ...event, id: event.id + 1 }));
      const mixed = [...events.slice(0, cut), { id: cut + 1, name: "moon_risen", data: { at: 1 } }, ...later];
      expect(transcript(fold(mixed))).toEqual(transcript(whole));
    }
  });

  it("gives the same when the stream begins again at any segment", () => {
    events.forEach((event, index) => {
      if (event.name !== "run_started") return;
      for (let cut = index + 1; cut <= events.length; cut += 1) {
        const again = fold(events.slice(index), fold(events.slice(0, cut)));
        expect(transcript(again)).toEqual(transcript(whole));
        expect(again.status).toBe(whole.status);
        expect(again.notes).toEqual(whole.notes);
        expect(again.stale).toBe(false);
      }
    });
  });

  it("never changes an earlier state", () => {
    const states = [EMPTY];
    const copies = [structuredClone(EMPTY)];
    for (const event of events) {
      const next = reduce(states.at(-1) as TurnLog, event);
      states.push(next);
      copies.push(structuredClone(next));
    }
    expect(states).toEqual(copies);
  });
});

describe("events that do not fit", () => {
  const run = { id: 1, name: "run_started", data: { at: 1, agent: "a", segment: 1, cause: "start", epoch: 0 } };
  const model = { id: 2, name: "model_started", data: { at: 2, call: 1, agent: "a", model: "demo", parent: null, ref: "" } };

  it("make the state stale when numbers are left out", () => {
    expect(fold([run, { ...model, id: 4 }]).stale).toBe(true);
  });

  it("make the state stale when they go back to where no segment began", () => {
    expect(fold([run, model, { id: 2, name: "text_delta", data: { call: 1, text: "x" } }]).stale).toBe(true);
  });

  it("make the state stale when a model call is not known, so that no word is lost", () => {
    expect(fold([run, { id: 2, name: "text_delta", data: { call: 7, text: "x" } }]).stale).toBe(true);
  });

  it("replace what a lost attempt had said", () => {
    const lost = fold([run, model, { id: 3, name: "text_delta", data: { call: 1, text: "lost" } }]);
    const attempt = 16_777_216;
    const again = fold([{ ...run, id: attempt + 1 }, { ...model, id: attempt + 2 }, { id: attempt + 3, name: "text_delta", data: { call: 1, text: "kept" } }], lost);
    expect(transcript(again).map((message) => message.content)).toEqual(["kept"]);
    expect(again.cursor).toBe(attempt + 3);
  });
});

describe("the arguments of a call", () => {
  const started = (args: object) => ({ id: 4, name: "tool_started", data: { at: 4, id: "c1", name: "execute", args, agent: "a", parent: null } });
  const before = fold([
    { id: 1, name: "run_started", data: { at: 1, agent: "a", segment: 1, cause: "start", epoch: 0 } },
    { id: 2, name: "model_started", data: { at: 2, call: 1, agent: "a", model: "demo", parent: null, ref: "" } },
    { id: 3, name: "model_finished", data: { at: 3, call: 1, tool_calls: [{ id: "c1", name: "execute", args: { command: "rm", deep: { a: [1, null], b: 2 } } }], usage: null, finish_reason: null } },
  ]);
  const ended = { id: 5, name: "tool_finished", data: { at: 5, id: "c1", name: "execute", output: "", status: "ok", agent: "a", parent: null } };

  it("are those of a call that has not begun, if it needs an approval", () => {
    const asks = (unknown: boolean) => ({ id: 5, name: "interrupted", data: { at: 5, interrupts: [{ id: "i1", kind: "approval", tool_call_id: "c1", name: "execute", unknown }] } });
    expect(fold([started({}), asks(false)], before).running).toEqual([]);
    expect(fold([started({}), asks(true)], before).running).toHaveLength(1);
  });

  it.each([
    ["superseded", "ask_user", 0],
    ["answered", "ask_user", 1],
    ["superseded", null, 1],
  ])("are those of a call that has done nothing, if its questions are closed: %s, %s", (outcome, name, left) => {
    const asks = { id: 5, name: "interrupted", data: { at: 5, interrupts: [{ id: "i1", kind: "questions", tool_call_id: "c1", name }] } };
    const closed = { id: 6, name: "interrupt_closed", data: { at: 6, id: "i1", outcome, answer: {}, message: null } };
    expect(fold([started({}), asks, closed], before).running).toHaveLength(left);
  });

  it("are told with its result when a person has edited them", () => {
    const args = { command: "ls", deep: { a: [1, null], b: 2 } };
    expect(fold([started(args), ended], before).finished.at(-1)?.args).toEqual(args);
    expect(fold([started({ ...args, command: "rm", deep: { a: [1], b: 2 } }), ended], before).finished.at(-1)?.args).not.toBeNull();
  });

  it("are not told again when they are those of the model", () => {
    expect(fold([started({ deep: { b: 2, a: [1, null] }, command: "rm" }), ended], before).finished.at(-1)?.args).toBeNull();
  });
});

it("a reply has the time for which its model thought, which a server of an older version does not tell", () => {
  const finish = (more: object): TurnLog =>
    fold([
      { id: 1, name: "model_started", data: { at: 1, call: 1, agent: "a", model: "m", parent: null, ref: "" } },
      { id: 2, name: "reasoning_delta", data: { call: 1, text: "hm" } },
      { id: 3, name: "model_finished", data: { at: 2, call: 1, tool_calls: [], usage: null, finish_reason: "stop", ...more } },
    ]);
  expect(finish({ thought_ms: 1200 }).finished[0]?.ms).toBe(1200);
  expect(finish({}).finished[0]?.ms).toBeNull();
});
