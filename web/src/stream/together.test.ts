// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type { Frame } from "./frames";
import type { Link, LinkOptions, LinkState } from "./link";
import { followTogether } from "./together";

/** The streams that are open, by the tab that reads. */
const streams: (LinkOptions & { closed: boolean })[] = [];
vi.mock("./link", () => ({
  follow: (options: LinkOptions): Link => {
    const stream = { ...options, closed: false };
    streams.push(stream);
    return { retry: () => undefined, close: () => void (stream.closed = true) };
  },
}));

/** Locks as a browser has them: who asks gets one as soon as nobody else has it. */
function locks(): LockManager {
  let last: Promise<unknown> = Promise.resolve();
  const request = (_: string, { signal }: LockOptions, work: () => Promise<void>): Promise<void> => {
    const mine = last.then(() => (signal?.aborted ? undefined : work()));
    last = mine;
    return mine;
  };
  return { request, query: () => Promise.reject(new Error()) } as unknown as LockManager;
}

const links: Link[] = [];
const frame = (id: string, event = "conversation"): Frame => ({ id, event, data: id });

function tab(after = "") {
  const seen: string[] = [];
  const states: LinkState[] = [];
  const gaps = vi.fn();
  const link = followTogether({
    name: "caesura.feed.ann",
    url: "/feed",
    after,
    untilDone: false,
    rest: 1000,
    onFrame: ({ id, event }) => seen.push(`${event} ${id}`),
    onState: (state) => states.push(state),
    greeting: () => frame("1", "ready"),
    onGap: gaps,
  });
  links.push(link);
  return { link, seen, states, gaps };
}

const open = () => streams.filter((stream) => !stream.closed);
const reading = () => vi.waitFor(() => expect(open()).toHaveLength(1));
const give = (item: Frame): void => open()[0]?.onFrame(item);

beforeEach(() => {
  vi.stubGlobal("navigator", { locks: locks() });
  streams.length = 0;
});
afterEach(() => {
  for (const link of links.splice(0)) link.close();
  vi.unstubAllGlobals();
});

it("one tab reads, and the others hear everything", async () => {
  const one = tab();
  await reading();
  const other = tab();
  give(frame("1", "ready"));
  give(frame("2"));
  await vi.waitFor(() => expect(other.seen).toContain("conversation 2"));
  expect(one.seen).toEqual(["ready 1", "conversation 2"]);
  open()[0]?.onState({ kind: "lost", retryAt: performance.now() + 60_000, silent: 0 });
  await vi.waitFor(() => expect(other.states.at(-1)?.kind).toBe("lost"));
  expect(streams).toHaveLength(1);
});

it("a tab that comes later is told what it must know first, and misses nothing by that", async () => {
  tab();
  await reading();
  give(frame("1", "ready"));
  const later = tab();
  await vi.waitFor(() => expect(later.seen).toEqual(["ready 1"]));
  expect(later.gaps).not.toHaveBeenCalled();
});

it("when the tab that reads is closed, the next one goes on after what it has heard", async () => {
  const first = tab();
  await reading();
  const second = tab();
  give(frame("1", "ready"));
  give(frame("2"));
  await vi.waitFor(() => expect(second.seen).toContain("conversation 2"));
  first.link.close();
  await vi.waitFor(() => expect(streams).toHaveLength(2));
  expect(open()).toHaveLength(1);
  expect(streams[1]?.after).toBe("2");
});

it("a tab that was away while something happened reads everything again", async () => {
  tab();
  await reading();
  give(frame("1", "ready"));
  give(frame("7"));
  const back = tab("3");
  await vi.waitFor(() => expect(back.gaps).toHaveBeenCalledOnce());
});

it("a browser without locks reads in each tab", () => {
  vi.stubGlobal("navigator", {});
  tab();
  tab();
  expect(streams).toHaveLength(2);
});

it("a tab learns how long the next try is away, although each tab counts its own ticks", async () => {
  tab();
  await reading();
  const other = tab();
  await vi.waitFor(() => expect(other.states).not.toEqual([]));
  const now = vi.spyOn(performance, "now").mockReturnValue(1000);
  open()[0]?.onState({ kind: "lost", retryAt: 5000, silent: 0 });
  now.mockReturnValue(70_000);
  await vi.waitFor(() => expect(other.states.at(-1)).toEqual({ kind: "lost", retryAt: 74_000, silent: 0 }));
  now.mockRestore();
});
