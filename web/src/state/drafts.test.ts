// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { claimTab, draftOf, forgetDrafts, isUnstored, setDraft, storeAll, storeDraft, useDrafts, useUnstored } from "./drafts";
import { keep, kept } from "./kept";

/** The stores without room. */
const full = new Set<Storage>();
// oxlint-disable-next-line @typescript-eslint/unbound-method
const setItem = Storage.prototype.setItem;

/** Whether the page says that something can be lost, and whether the browser asks before the page is left. */
const told = (): [boolean, boolean] => [useUnstored.getState().lossy, !dispatchEvent(new Event("beforeunload", { cancelable: true }))];
const type = (id: string, text: string): void => {
  setDraft(id, text);
  storeAll();
};
/** What the box has after a reload of this tab, or in a new tab. */
const box = (id: string): string => draftOf({}, id);
const newTab = (): void => {
  forgetPage();
  sessionStorage.clear();
};
/** The page is loaded anew: it knows only what the browser has stored. */
function forgetPage(): void {
  const stores = [sessionStorage, localStorage].map((store) => [store, Object.entries(store)] as const);
  const room = [...full];
  full.clear();
  forgetDrafts();
  for (const [store, entries] of stores) for (const [name, value] of entries as [string, string][]) store.setItem(name, value);
  for (const store of room) full.add(store);
}

beforeEach(() => {
  keep("user", "alice");
  claimTab("alice");
  vi.spyOn(Storage.prototype, "setItem").mockImplementation(function (this: Storage, name: string, value: string) {
    if (full.has(this)) throw new DOMException("full", "QuotaExceededError");
    setItem.call(this, name, value);
  });
});
afterEach(() => {
  full.clear();
  forgetDrafts();
  localStorage.clear();
  sessionStorage.clear();
  vi.restoreAllMocks();
});

describe("a browser with room only until the tab is closed", () => {
  it("says that the text can be lost, and asks before the tab is closed", () => {
    type("A", "old");
    expect(told()).toEqual([false, false]);
    full.add(localStorage);
    type("A", "old and more");
    expect(told()).toEqual([true, true]);
  });

  it("says so after a reload too, which loses nothing", () => {
    type("A", "old");
    full.add(localStorage);
    type("A", "old and more");
    expect(isUnstored()).toBe(false);
    forgetPage();
    claimTab("alice");
    expect(box("A")).toBe("old and more");
    expect(told()).toEqual([true, true]);
  });

  it("does not show an older text in a new tab", () => {
    type("A", "old");
    full.add(localStorage);
    type("A", "old and more");
    newTab();
    expect(box("A")).toBe("");
  });

  it("leaves the text of another tab alone", () => {
    type("A", "mine");
    keep("draft.A", "of another tab");
    full.add(localStorage);
    type("A", "mine and more");
    expect(kept("draft.A")).toBe("of another tab");
    expect(told()).toEqual([true, true]);
  });

  it("stores the text as soon as another one has made room", () => {
    type("A", "short");
    full.add(localStorage);
    type("B", "long");
    expect(told()).toEqual([true, true]);
    full.clear();
    type("A", "");
    expect(told()).toEqual([false, false]);
    newTab();
    expect(box("B")).toBe("long");
  });

  it("stores it before the browser asks, if another tab has made room", () => {
    full.add(localStorage);
    type("A", "long");
    full.clear();
    expect(told()[1]).toBe(false);
    newTab();
    expect(box("A")).toBe("long");
  });

  it("asks nothing for what is typed into a question, which ends with its tab", () => {
    full.add(localStorage);
    storeDraft("ask.q1", "{}");
    expect(told()).toEqual([false, false]);
  });
});

describe("a browser with room only for what all tabs share", () => {
  it("has the newer text after a reload, and asks nothing", () => {
    type("A", "first");
    full.add(sessionStorage);
    type("A", "first and more");
    expect(told()).toEqual([false, false]);
    forgetPage();
    expect(box("A")).toBe("first and more");
  });
});

it("a browser that takes nothing keeps what it had, until the person removes the text", () => {
  type("A", "old");
  full.add(localStorage).add(sessionStorage);
  type("A", "old and more");
  expect([told(), isUnstored()]).toEqual([[true, true], true]);
  expect([kept("draft.A"), kept("draft.A", "tab")]).toEqual(["old", "old"]);
  expect(draftOf(useDrafts.getState(), "A")).toBe("old and more");
  type("A", "");
  expect([kept("draft.A"), kept("draft.A", "tab")]).toEqual([null, null]);
  expect(told()).toEqual([false, false]);
});
