// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { EMPTY } from "../log/turn";
import type { Frame } from "../stream/frames";
import type { LinkOptions, LinkState } from "../stream/link";
import { PACE, unfollow, watch } from "./following";
import { NONE, useThread, type Entry } from "./thread";

let give: (frame: Frame) => void = () => undefined;
let tell: (state: LinkState) => void = () => undefined;
let closed = 0;
vi.mock("../stream/link", () => ({
  follow: (options: LinkOptions) => {
    give = options.onFrame;
    tell = options.onState;
    return { retry: () => undefined, close: () => (closed += 1) };
  },
}));

const FRAME = 16;
const entry = { turn: { id: "t1", status: "running" }, log: { ...EMPTY, status: "running" } } as Entry;
const textOf = () => useThread.getState().entries[0]?.log.drafts[0]?.text ?? "";

let sent = 0;
function send(event: string, data: object): void {
  sent += 1;
  give({ id: String(sent), event, data: JSON.stringify({ at: 1, ...data }) });
}

beforeEach(() => {
  vi.useFakeTimers();
  sent = 0;
  closed = 0;
  useThread.setState({ ...NONE, id: "c", phase: "ready", entries: [entry] }, true);
  watch(entry, { stale: () => expect.unreachable(), documents: () => undefined });
  vi.advanceTimersByTime(1000);
  send("run_started", { agent: "a", segment: 1, cause: "start", epoch: 0 });
  send("model_started", { call: 1, agent: "a", model: "demo", parent: null, ref: "" });
  vi.advanceTimersByTime(1000);
});
afterEach(() => {
  unfollow();
  vi.useRealTimers();
});

test("words that come one with each frame are drawn together, none is lost and none waits long", () => {
  let updates = 0;
  const end = useThread.subscribe(() => (updates += 1));
  const words = 600;
  for (let n = 1; n <= words; n += 1) {
    send("text_delta", { call: 1, text: "w" });
    vi.advanceTimersByTime(FRAME);
    expect(n - textOf().length).toBeLessThanOrEqual(Math.ceil(PACE / FRAME) + 1);
  }
  vi.advanceTimersByTime(PACE + FRAME);
  end();
  expect(textOf()).toBe("w".repeat(words));
  expect(updates).toBeLessThanOrEqual((words * FRAME) / PACE + 1);
});

test("the first word after a silence is drawn with the next frame", () => {
  send("text_delta", { call: 1, text: "now" });
  vi.advanceTimersByTime(FRAME);
  expect(textOf()).toBe("now");
});

test("a page that nobody sees has its words too, without frames", () => {
  vi.spyOn(document, "hidden", "get").mockReturnValue(true);
  const frames = vi.spyOn(window, "requestAnimationFrame");
  send("text_delta", { call: 1, text: "a" });
  vi.advanceTimersByTime(1000);
  expect(textOf()).toBe("a");
  expect(frames).not.toHaveBeenCalled();
});

test("the end of a turn is seen at once, and nothing more is asked for", () => {
  send("text_delta", { call: 1, text: "a" });
  send("model_finished", { call: 1, tool_calls: [], usage: null, finish_reason: null });
  send("finished", {});
  send("segment_ended", {});
  expect(useThread.getState().entries[0]?.log.status).toBe("done");
  expect(closed).toBe(1);
});

test("a stream that ends before its words were drawn does not make the page read everything again", () => {
  send("text_delta", { call: 1, text: "a" });
  send("model_finished", { call: 1, tool_calls: [], usage: null, finish_reason: null });
  send("finished", {});
  tell({ kind: "ended", why: "done" });
  expect(useThread.getState().entries[0]?.log.status).toBe("done");
});

test("a turn for whose stream there is no place is looked at again and again", () => {
  const stale = vi.fn();
  watch(entry, { stale, documents: () => undefined });
  tell({ kind: "crowded" });
  useThread.setState({ sending: { content: "more", parent: undefined, fault: null } });
  vi.advanceTimersByTime(10_000);
  expect(stale).not.toHaveBeenCalled();
  useThread.setState({ sending: null });
  vi.advanceTimersByTime(10_000);
  expect(stale).toHaveBeenCalledOnce();
});
