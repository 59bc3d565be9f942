// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { ExactNumber } from "../api/json";
import { EMPTY } from "../log/turn";
import type { Frame } from "../stream/frames";
import type { LinkOptions, LinkState } from "../stream/link";
import { useConnection } from "./connection";
import type { FeedEvents, onFeed } from "./feed";
import { PACE, unfollow, watch } from "./following";
import { NONE, useThread, type Entry } from "./thread";

let give: (frame: Frame) => void = () => undefined;
let tell: (state: LinkState) => void = () => undefined;
let options: LinkOptions;
let closed = 0;
let retries = 0;
vi.mock("../stream/link", () => ({
  follow: (given: LinkOptions) => {
    options = given;
    give = options.onFrame;
    tell = options.onState;
    return { retry: () => (retries += 1), close: () => (closed += 1) };
  },
}));

type Listener = Parameters<typeof onFeed>[0];
const listeners = new Set<Listener>();
vi.mock("./feed", () => ({
  onFeed: (listener: Listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
}));
function feed(name: keyof FeedEvents, data: object): void {
  for (const listener of listeners) listener(name, data as FeedEvents[typeof name]);
}

const FRAME = 16;
const entry = { turn: { id: "t1", conversation_id: "c", status: "running" }, log: { ...EMPTY, status: "running" } } as Entry;
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
  retries = 0;
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

function comeBack(): void {
  tell({ kind: "lost", retryAt: 0, silent: 0 });
  vi.advanceTimersByTime(1000);
  tell({ kind: "open" });
}

test("after a lost connection the words that were missing are counted", () => {
  comeBack();
  send("text_delta", { call: 1, text: "one two " });
  vi.advanceTimersByTime(PACE + FRAME);
  send("text_delta", { call: 1, text: "three" });
  vi.advanceTimersByTime(PACE + FRAME);
  expect(useConnection.getState().back).toEqual({ words: 3 });
});

test("no words are caught up when an answer begins again", () => {
  comeBack();
  send("text_delta", { call: 1, text: "one two " });
  vi.advanceTimersByTime(PACE + FRAME);
  send("text_voided", { call: 1 });
  send("model_started", { call: 2, agent: "a", model: "demo", parent: null, ref: "" });
  send("text_delta", { call: 2, text: "one two three" });
  vi.advanceTimersByTime(PACE + FRAME);
  send("text_delta", { call: 2, text: " four" });
  vi.advanceTimersByTime(PACE + FRAME);
  expect(textOf()).toBe("one two three four");
  expect(useConnection.getState().back).toEqual({ words: 0 });
});

test("a turn that waits for its place reads nothing else, and is no loss", () => {
  const stale = vi.fn();
  watch(entry, { stale, documents: () => undefined });
  tell({ kind: "crowded" });
  vi.advanceTimersByTime(60_000);
  expect(stale).not.toHaveBeenCalled();
  expect(useConnection.getState().lost).toBeNull();
  expect(options.idle?.()).toBe(false);
});

test("a turn that waits for a person needs no place until the feed tells that it goes on", () => {
  useThread.setState({ entries: [{ ...entry, log: { ...entry.log, status: "waiting" } }] });
  expect(options.idle?.()).toBe(true);
  feed("question_closed", { interrupt_id: "q", conversation_id: "c2", turn_id: "t2", outcome: "answered" });
  feed("conversation", { id: "c", status: "interrupted" });
  expect(retries).toBe(0);
  feed("question_closed", { interrupt_id: "q", conversation_id: "c", turn_id: "t1", outcome: "answered" });
  expect(retries).toBe(1);
  feed("conversation", { id: "c", status: "idle" });
  expect(retries).toBe(2);
  unfollow();
  feed("conversation", { id: "c", status: "idle" });
  expect(retries).toBe(2);
});

test("a number with many digits in a call is kept as it is written", () => {
  sent += 1;
  give({ id: String(sent), event: "model_finished", data: '{"at":1,"call":1,"tool_calls":[{"id":"c1","name":"pay","args":{"account":90071992547409931}}],"usage":null,"finish_reason":null}' });
  vi.advanceTimersByTime(1000);
  expect(useThread.getState().entries[0]?.log.finished[0]?.tool_calls[0]?.args).toEqual({ account: new ExactNumber("90071992547409931") });
});
