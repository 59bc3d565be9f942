// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { NewTurn } from "../api/types";

/** Locks as a browser has them, for all pages together. */
function locks(): LockManager {
  const held = new Set<string>();
  const request = async (name: string, _: LockOptions, work: (lock: Lock | null) => Promise<void> | undefined): Promise<void> => {
    await Promise.resolve();
    if (held.has(name)) return work(null);
    held.add(name);
    await work({ name, mode: "exclusive" });
    held.delete(name);
  };
  return { request } as unknown as LockManager;
}

const BODY: NewTurn = { content: "good day" };
type Leaving = (persisted?: boolean) => void;

/** A page of its own. They have what the browser keeps in common, and here also what the tab keeps: each is the copy of the one before. */
async function open(): Promise<{ send: () => Promise<string>; takeOver: (page: string) => Promise<boolean>; name: () => string; leave: Leaving; comeBack: Leaving }> {
  vi.resetModules();
  const heard: Record<string, ((event: Partial<PageTransitionEvent>) => void)[]> = {};
  vi.stubGlobal("addEventListener", (name: string, listener: () => void) => (heard[name] ??= []).push(listener));
  const { followLife, takeOver, thisPage } = await import("./living");
  const { keepSent, sentAs } = await import("./sent");
  const { followAsking } = await import("./asking");
  followLife();
  followAsking();
  const send = async (): Promise<string> => {
    const sent = await sentAs("new", BODY, null);
    keepSent("new", sent);
    return sent.key;
  };
  const tell = (name: string) => (persisted = false) => heard[name]?.forEach((listener) => listener({ persisted }));
  return { send, takeOver, name: thisPage, leave: tell("pagehide"), comeBack: tell("pageshow") };
}

beforeEach(() => {
  localStorage.clear();
  sessionStorage.clear();
});
afterEach(() => vi.unstubAllGlobals());

describe.each(["locks", "a channel"])("where a browser has %s", (way) => {
  beforeEach(() => vi.stubGlobal("navigator", way === "locks" ? { locks: locks() } : {}));

  it("the words that a living page has sent are another message in another page, also in a copy of the tab", async () => {
    const one = await open();
    const first = await one.send();
    const copy = await open();
    expect(await copy.send()).not.toBe(first);
  });

  it("the page that has sent them sends the same message again", async () => {
    const one = await open();
    expect(await one.send()).toBe(await one.send());
  });

  it("a page that was loaded anew, or opened after the sender was closed, goes on with its message", async () => {
    const one = await open();
    const first = await one.send();
    one.leave();
    const next = await open();
    expect(await next.send()).toBe(first);
    next.leave();
    expect(await (await open()).send()).toBe(first);
  });

  it("only one page goes on with what a closed one has sent", async () => {
    const closed = await open();
    const name = closed.name();
    closed.leave();
    const [one, other] = [await open(), await open()];
    expect(await one.takeOver(name)).toBe(true);
    expect(await other.takeOver(name)).toBe(false);
    // It may have sent more than one message.
    expect(await one.takeOver(name)).toBe(true);
  });

  it("a page that the browser has put away counts as closed, and lives again when it is back", async () => {
    const one = await open();
    const first = await one.send();
    one.leave(true);
    const other = await open();
    expect(await other.send()).toBe(first);
    one.comeBack(true);
    const again = await one.send();
    expect(again).not.toBe(first);
    expect(await other.send()).not.toBe(again);
  });
});

it("where nobody can tell whether a page lives, the same words are the same message", async () => {
  vi.stubGlobal("navigator", {});
  vi.stubGlobal("BroadcastChannel", undefined);
  const first = await (await open()).send();
  expect(await (await open()).send()).toBe(first);
});
