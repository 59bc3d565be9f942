// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { Channel } from "../../dev/channel";
import { Locks } from "../../dev/locks";
import { onSessionEnd } from "../api/client";
import { DOUBT, follow, PATIENCE, SILENCE, WAITS, type Link, type LinkOptions, type LinkState } from "./link";
import { PLACES, SHARE, takePlace } from "./places";

type Reply = Response | Error | "nothing";

const bodies = new WeakMap<Response, ReadableStreamDefaultController<Uint8Array>>();

/** A response whose body says this, and then ends or stays open. */
function stream(text: string, open = false): Response {
  let end: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      end = controller;
      controller.enqueue(new TextEncoder().encode(text));
      if (!open) controller.close();
    },
  });
  const response = new Response(body, { status: 200, headers: { "Content-Type": "text/event-stream" } });
  if (open && end) bodies.set(response, end);
  return response;
}

/** Caesura's own refusal. */
const refusal = (status: number, code: string) => new Response(null, { status, headers: { "X-Error-Code": code } });

const open: Link[] = [];

function setUp(replies: Reply[], more: Partial<LinkOptions> = {}) {
  const sent: (string | null)[] = [];
  const states: LinkState[] = [];
  const frames: string[] = [];
  vi.stubGlobal("fetch", (_: string, { headers, signal }: { headers: Record<string, string>; signal: AbortSignal }) => {
    sent.push(headers["Last-Event-ID"] ?? null);
    const reply = replies.shift() ?? new Response(null, { status: 204 });
    if (reply instanceof Error) return Promise.reject(reply);
    if (reply === "nothing") return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
    signal.addEventListener("abort", () => bodies.get(reply)?.error(new Error("aborted")));
    return Promise.resolve(reply);
  });
  const link = follow({ url: "/x", after: "", untilDone: true, rest: 1000, onFrame: (frame) => frames.push(`${frame.id}:${frame.data}`), onState: (state) => states.push(state), ...more });
  open.push(link);
  return { sent, states, frames, link, kinds: () => states.map((state) => (state.kind === "ended" ? state.why : state.kind)) };
}

const settle = () => vi.advanceTimersByTimeAsync(0);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  for (const link of open.splice(0)) link.close();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("a stream", () => {
  it("goes on after the last frame that was read, until there is nothing left", async () => {
    const { sent, frames, kinds } = setUp([stream("id: 1\ndata: a\n\nid: 2\ndata: b\n\n"), stream("id: 3\ndata: c\n\n")]);
    await vi.advanceTimersByTimeAsync(10);
    expect(frames).toEqual(["1:a", "2:b", "3:c"]);
    expect(sent).toEqual([null, "2", "3"]);
    expect(kinds().at(-1)).toBe("done");
  });

  it("waits longer after each loss, says when it tries again, and begins anew once it has read something", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0.5);
    const { sent, states } = setUp([new TypeError("no"), new TypeError("no"), stream("id: 1\ndata: a\n\n", true)]);
    await settle();
    expect(states.at(-1)).toEqual({ kind: "lost", retryAt: performance.now() + WAITS[0], silent: 0 });
    await vi.advanceTimersByTimeAsync(WAITS[0]);
    expect(states.at(-1)).toEqual({ kind: "lost", retryAt: performance.now() + WAITS[1], silent: 0 });
    await vi.advanceTimersByTimeAsync(WAITS[1]);
    expect(states.at(-1)).toEqual({ kind: "open" });
    expect(sent).toHaveLength(3);
  });

  it("tries at once when the person or the browser says so", async () => {
    const { sent, link } = setUp([new TypeError("no"), new TypeError("no"), stream("", true)]);
    await settle();
    link.retry();
    await settle();
    expect(sent).toHaveLength(2);
    dispatchEvent(new Event("online"));
    await settle();
    expect(sent).toHaveLength(3);
  });

  it("tries at once although a try hangs, but not while all is well", async () => {
    const { sent, link, kinds } = setUp(["nothing", stream("id: 1\ndata: a\n\n", true), stream("", true)]);
    await settle();
    link.retry();
    await settle();
    expect(sent).toHaveLength(2);
    expect(kinds()).not.toContain("lost");
    link.retry();
    await settle();
    expect(sent).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(DOUBT + 1);
    link.retry();
    await settle();
    expect(sent).toEqual([null, null, "1"]);
  });

  it("gives up a try that hangs sooner than a stream that is silent", async () => {
    const { sent, kinds } = setUp(["nothing", stream("", true)]);
    await vi.advanceTimersByTimeAsync(PATIENCE + 1);
    expect(kinds().at(-1)).toBe("lost");
    await vi.advanceTimersByTimeAsync(WAITS[1]);
    expect(sent).toHaveLength(2);
    expect(kinds().at(-1)).toBe("open");
  });

  it("tells how many tries have ended in silence since something was heard", async () => {
    const { states } = setUp(["nothing", "nothing", refusal(503, "busy"), "nothing", stream("id: 1\ndata: a\n\n", true)]);
    await vi.advanceTimersByTimeAsync(120_000);
    expect(states.flatMap((state) => (state.kind === "lost" ? state.silent : []))).toEqual([1, 2, 0, 1, 1]);
  });

  it("goes on after a frame that is known from elsewhere", async () => {
    const { sent, link } = setUp([new TypeError("no"), stream("", true)]);
    await settle();
    link.skipTo("7");
    link.retry();
    await settle();
    expect(sent).toEqual([null, "7"]);
  });

  it("waits as long as a busy server asks for", async () => {
    const { states } = setUp([new Response(null, { status: 503, headers: { "Retry-After": "7" } })]);
    await settle();
    expect(states.at(-1)).toEqual({ kind: "lost", retryAt: performance.now() + 7000, silent: 0 });
  });

  it("takes long silence for a loss", async () => {
    const { kinds } = setUp([stream("id: 1\ndata: a\n\n", true)]);
    await settle();
    expect(kinds().at(-1)).toBe("open");
    await vi.advanceTimersByTimeAsync(SILENCE);
    expect(kinds().at(-1)).toBe("lost");
  });

  it.each([-10_800_000, 10_800_000])("notices silence, and says when it tries again, although the machine's clock jumps by %i ms", async (jump) => {
    vi.spyOn(Math, "random").mockReturnValue(0.5);
    const { states, kinds } = setUp([stream("id: 1\ndata: a\n\n", true)]);
    await settle();
    vi.setSystemTime(Date.now() + jump);
    await vi.advanceTimersByTimeAsync(SILENCE - 1);
    expect(kinds().at(-1)).toBe("open");
    await vi.advanceTimersByTimeAsync(1);
    expect(states.at(-1)).toEqual({ kind: "lost", retryAt: performance.now() + WAITS[0], silent: 1 });
  });

  it("is tried at once when somebody looks after the machine has slept, in which no timer ran", async () => {
    const { sent } = setUp([stream("id: 1\ndata: a\n\n", true), stream("", true)]);
    await settle();
    dispatchEvent(new Event("focus"));
    await settle();
    expect(sent).toEqual([null]);
    vi.setSystemTime(Date.now() + 8 * 3_600_000);
    dispatchEvent(new Event("focus"));
    await settle();
    expect(sent).toEqual([null, "1"]);
  });

  it("rests while nobody sees the page, and goes on where it was when somebody does", async () => {
    const hidden = vi.spyOn(document, "hidden", "get");
    const see = (seen: boolean): void => {
      hidden.mockReturnValue(!seen);
      document.dispatchEvent(new Event("visibilitychange"));
    };
    const { sent, states } = setUp([stream("id: 1\ndata: a\n\n", true), stream("id: 2\ndata: b\n\n", true)]);
    await settle();
    see(false);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(sent).toEqual([null]);
    expect(states.map((state) => state.kind)).not.toContain("lost");
    see(true);
    await settle();
    expect(sent).toEqual([null, "1"]);
  });

  it("lets go of its connection when the person leaves the page, and goes on when the browser brings the page back", async () => {
    const { sent, states } = setUp([stream("id: 1\ndata: a\n\n", true), stream("id: 2\ndata: b\n\n", true)]);
    await settle();
    dispatchEvent(new Event("pagehide"));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(sent).toEqual([null]);
    expect(states.map((state) => state.kind)).not.toContain("lost");
    dispatchEvent(Object.assign(new Event("pageshow"), { persisted: true }));
    await settle();
    expect(sent).toEqual([null, "1"]);
  });

  it("is read once, although the person comes back before the old connection is gone", async () => {
    const { sent } = setUp([stream("id: 1\ndata: a\n\n", true), stream("id: 2\ndata: b\n\n", true)]);
    await settle();
    dispatchEvent(new Event("pagehide"));
    dispatchEvent(Object.assign(new Event("pageshow"), { persisted: true }));
    await vi.advanceTimersByTimeAsync(SILENCE - 5000);
    expect(sent).toEqual([null, "1"]);
  });

  it("rests at once while nobody sees the page and another tab is seen", async () => {
    const { sent } = setUp([stream("id: 1\ndata: a\n\n", true), stream("id: 2\ndata: b\n\n", true)]);
    await settle();
    const hidden = vi.spyOn(document, "hidden", "get").mockReturnValue(true);
    const tab = new BroadcastChannel("caesura.tabs");
    const told = new Promise((resolve) => (new BroadcastChannel("caesura.tabs").onmessage = resolve));
    tab.postMessage("seen");
    vi.useRealTimers();
    await told;
    tab.close();
    hidden.mockReturnValue(false);
    document.dispatchEvent(new Event("visibilitychange"));
    await vi.waitFor(() => expect(sent).toEqual([null, "1"]));
  });

  it.each([401, 403, 404, 422])("goes on after a refusal that is not Caesura's (%i)", async (status) => {
    const ended = vi.fn();
    onSessionEnd(ended);
    const { kinds } = setUp([new Response("<html>", { status }), stream("id: 1\ndata: a\n\n", true)]);
    await settle();
    expect(kinds().at(-1)).toBe("lost");
    await vi.advanceTimersByTimeAsync(1000);
    expect(kinds().at(-1)).toBe("open");
    expect(ended).not.toHaveBeenCalled();
  });

  it("does not take the sign-in page of a network for a stream", async () => {
    const page = () => new Response("<html>", { headers: { "Content-Type": "text/html" } });
    const { sent, kinds } = setUp([page(), page(), page()]);
    await vi.advanceTimersByTimeAsync(WAITS[0]);
    expect(kinds()).not.toContain("open");
    expect(sent.length).toBeLessThan(3);
  });

  it("finds the server again soon, although several tries hang on dead connections", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0.5);
    const { kinds } = setUp([stream("id: 1\ndata: a\n\n", true), "nothing", "nothing", stream("", true)]);
    await vi.advanceTimersByTimeAsync(SILENCE);
    expect(kinds().at(-1)).toBe("lost");
    await vi.advanceTimersByTimeAsync(SILENCE);
    expect(kinds().at(-1)).toBe("open");
  });

  it("ends when what it follows is gone", async () => {
    const { kinds } = setUp([refusal(404, "not_found")]);
    await settle();
    expect(kinds().at(-1)).toBe("gone");
  });

  it("tells that the session has ended, and goes on when the person has signed in again", async () => {
    const ended = vi.fn();
    onSessionEnd(ended);
    const { kinds } = setUp([refusal(401, "unauthenticated"), stream("id: 1\ndata: a\n\n")]);
    await settle();
    expect(ended.mock.calls).toEqual([[false]]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(kinds().at(-1)).toBe("done");
  });

  it("tells that the person has ended the session from elsewhere", async () => {
    const ended = vi.fn();
    onSessionEnd(ended);
    setUp([new Response(JSON.stringify({ error: { code: "revoked", message: "" } }), { status: 401 })]);
    await settle();
    expect(ended.mock.calls).toEqual([[true]]);
  });

  it("says nothing more once it is closed", async () => {
    const { states, link, sent } = setUp([new TypeError("no")]);
    await settle();
    link.close();
    const count = states.length;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(states).toHaveLength(count);
    expect(sent).toHaveLength(1);
  });
});

describe("a stream that shares its place", () => {
  let locks = new Locks();
  let leaves: (() => void)[] = [];

  /** Takes a place for another window, or waits for one. */
  async function other(name: string, focused = true): Promise<void> {
    const own = navigator.locks;
    vi.stubGlobal("navigator", { locks: locks.of(name) });
    const asked = takePlace(new AbortController().signal, { focused: () => focused, onWait: () => undefined, onLeft: () => undefined });
    vi.stubGlobal("navigator", { locks: own });
    leaves.push(await asked);
  }

  beforeEach(async () => {
    locks = new Locks();
    leaves = [];
    vi.stubGlobal("BroadcastChannel", Channel);
    vi.stubGlobal("navigator", { locks: locks.of("here") });
    vi.spyOn(document, "hasFocus").mockReturnValue(false);
    for (let n = 1; n < PLACES; n += 1) await other(`w${n}`);
  });
  afterEach(() => {
    for (const leave of leaves) leave();
    Channel.all.clear();
  });

  it("waits for its turn, however long, without a loss and without a request", async () => {
    // These keep their places: they have the focus.
    await other("last");
    const { sent, kinds, link } = setUp([stream("id: 1\ndata: a\n\n", true)], { placed: true });
    await vi.advanceTimersByTimeAsync(SILENCE * 3);
    expect(kinds()).toEqual(["connecting", "crowded"]);
    const queue = [...locks.pending];
    link.retry();
    dispatchEvent(new Event("online"));
    await settle();
    expect(locks.pending).toEqual(queue);
    expect(sent).toEqual([]);
    leaves[0]?.();
    await settle();
    expect(kinds()).toEqual(["connecting", "crowded", "open"]);
  });

  it("leaves no request behind when it is closed while it waits", async () => {
    await other("last");
    const { link } = setUp([], { placed: true });
    await settle();
    expect(locks.pending).toHaveLength(PLACES);
    link.close();
    await settle();
    expect(locks.pending).toEqual([]);
    expect([...locks.held.values()]).not.toContain("here");
  });

  it.each(["pagehide", "freeze"])("leaves no place behind when the browser puts the page away (%s), and goes on later", async (name) => {
    const { sent } = setUp([stream("id: 1\ndata: a\n\n", true), stream("", true)], { placed: true });
    await settle();
    expect([...locks.held.values()]).toContain("here");
    if (name === "freeze") document.dispatchEvent(new Event(name));
    else dispatchEvent(new Event(name));
    await settle();
    expect([...locks.held.values()]).not.toContain("here");
    if (name === "freeze") document.dispatchEvent(new Event("resume"));
    else dispatchEvent(Object.assign(new Event("pageshow"), { persisted: true }));
    await settle();
    expect(sent).toEqual([null, "1"]);
  });

  it("leaves its place to a window that waits, and goes on where it was when it has its turn again", async () => {
    const { sent, kinds, frames } = setUp([stream("id: 1\ndata: a\n\nid: 2\nda", true), stream("id: 2\ndata: b\n\n", true)], { placed: true });
    await vi.advanceTimersByTimeAsync(SHARE);
    void other("next", false);
    await settle();
    expect([...locks.held.values()]).toContain("next");
    expect(kinds()).toEqual(["connecting", "open", "connecting", "crowded"]);
    leaves.at(-1)?.();
    await settle();
    expect(sent).toEqual([null, "1"]);
    expect(frames).toEqual(["1:a", "2:b"]);
    expect(kinds()).not.toContain("lost");
  });

  it("asks for no place while nothing is expected, until it is told to", async () => {
    let idle = true;
    const { sent, kinds } = setUp([stream("id: 1\ndata: a\n\n", true), stream("", true)], { placed: true, idle: () => idle });
    await vi.advanceTimersByTimeAsync(SHARE);
    void other("next", false);
    await settle();
    expect(kinds().at(-1)).toBe("crowded");
    expect(locks.pending).toEqual([]);
    leaves.at(-1)?.();
    await vi.advanceTimersByTimeAsync(SILENCE * 2);
    expect(sent).toEqual([null]);
    idle = false;
    open.at(-1)?.retry();
    await settle();
    expect(sent).toEqual([null, "1"]);
    expect(kinds()).not.toContain("lost");
  });

  it("rests if nobody sees it when another window wants its place", async () => {
    const hidden = vi.spyOn(document, "hidden", "get").mockReturnValue(true);
    const { sent } = setUp([stream("id: 1\ndata: a\n\n", true), stream("", true)], { placed: true, rest: 60_000 });
    await vi.advanceTimersByTimeAsync(SHARE);
    void other("next", false);
    await settle();
    expect(locks.pending).toEqual([]);
    leaves.at(-1)?.();
    await settle();
    expect(sent).toEqual([null]);
    hidden.mockReturnValue(false);
    document.dispatchEvent(new Event("visibilitychange"));
    await settle();
    expect(sent).toEqual([null, "1"]);
  });
});
