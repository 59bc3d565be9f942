import { expect, test } from "vitest";

import type { SeenTurn } from "../api/types";
import { fromSnapshot } from "./snapshot";
import { EMPTY, reduce } from "./turn";

const started = (id: number, parent: string | null, from: string | null) => ({ id, name: "model_started", data: { call: id, agent: "a", model: "m", parent, ref: "", at: 1, context_from: from } });

test("a turn knows from where on its model was shown the conversation", () => {
  let log = reduce(EMPTY, started(1, null, "turn-3"));
  expect(log.contextFrom).toBe("turn-3");
  log = reduce(log, started(2, "call-1", null));
  expect(log.contextFrom).toBe("turn-3");
  log = reduce(log, started(3, null, null));
  expect(log.contextFrom).toBeNull();
});

test("the model of a turn is that of its agent, not of a sub-agent, and an empty name takes none away", () => {
  const named = (id: number, parent: string | null, model: string) => ({ ...started(id, parent, null), data: { ...started(id, parent, null).data, model } });
  let log = reduce(EMPTY, named(1, null, "large"));
  log = reduce(log, named(2, "call-1", "small"));
  log = reduce(log, named(3, null, ""));
  expect(log.model).toBe("large");
  expect(reduce(EMPTY, named(1, null, "")).model).toBeNull();
});

test("a snapshot tells it too", () => {
  const turn = { status: "done", messages: [], running_tools: [], writing_tools: [], interrupts: [], notes: [], artifacts: [], cursor: 3, model: "m", context_from: "turn-2" } as unknown as SeenTurn;
  expect(fromSnapshot(turn).contextFrom).toBe("turn-2");
});
