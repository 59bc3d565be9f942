import { beforeEach, describe, expect, it, vi } from "vitest";

import * as api from "../api/calls";
import type { Conversation } from "../api/types";
import { dropRow, loadList, loadMore, putRow, renameConversation, useList } from "./list";

vi.mock("../api/calls");

const row = (id: string, updated_at: number) => ({ id, updated_at, title: null }) as Conversation;
const order = () => useList.getState().order;

beforeEach(() => useList.setState({ rows: {}, order: [], next: null, phase: "ready", titled: null }));

describe("the list", () => {
  it("keeps the newest first, wherever a row comes from and goes to", () => {
    for (const [id, at] of [["b", 20], ["d", 40], ["a", 10], ["c", 30], ["e", 30]] as const) putRow(row(id, at));
    expect(order()).toEqual(["d", "e", "c", "b", "a"]);
    putRow(row("a", 50));
    expect(order()).toEqual(["a", "d", "e", "c", "b"]);
    putRow(row("d", 25));
    expect(order()).toEqual(["a", "e", "c", "d", "b"]);
    dropRow("e");
    expect(order()).toEqual(["a", "c", "d", "b"]);
  });

  it("looks at few of its rows when one changes", () => {
    let looked = 0;
    const watched = (id: string, at: number) => Object.defineProperty(row(id, at), "updated_at", { enumerable: true, get: () => ((looked += 1), at) });
    const rows = Array.from({ length: 1000 }, (_, index) => watched(`c${index}`, 1000 - index));
    useList.setState({ rows: Object.fromEntries(rows.map((item) => [item.id, item])), order: rows.map((item) => item.id) });
    looked = 0;
    putRow(row("new", 500.5));
    expect(order()[500]).toBe("new");
    expect(looked).toBeLessThan(50);
  });

  it("keeps what it was told while it was loaded", async () => {
    vi.mocked(api.conversations).mockImplementation(() => {
      putRow(row("a", 30));
      dropRow("b");
      return Promise.resolve({ conversations: [row("a", 10), row("b", 20), row("c", 5)], next: null, total: 3 });
    });
    await loadList();
    expect(order()).toEqual(["a", "c"]);
    expect(useList.getState().rows.a?.updated_at).toBe(30);
  });

  it("keeps what it was told while a new title was on its way", async () => {
    putRow({ ...row("p", 10), title: "old" });
    putRow({ ...row("q", 10), title: "old" });
    vi.mocked(api.rename).mockImplementation((id) => {
      if (id === "p") putRow({ ...row("p", 30), title: "newest" });
      else dropRow("q");
      return Promise.resolve({ ...row(id, 20), title: "new" });
    });
    await renameConversation("p", "new");
    await renameConversation("q", "new");
    expect(useList.getState().rows.p).toMatchObject({ title: "newest", updated_at: 30 });
    expect(order()).toEqual(["p"]);
  });

  it("takes a new title of which nothing was told", async () => {
    putRow({ ...row("r", 10), title: "old" });
    vi.mocked(api.rename).mockResolvedValue({ ...row("r", 20), title: "new" });
    await renameConversation("r", "new");
    expect(useList.getState().rows.r?.title).toBe("new");
  });

  it("shows no row that was deleted while more rows were on their way", async () => {
    useList.setState({ next: "cursor" });
    vi.mocked(api.conversations).mockImplementation(() => {
      dropRow("s");
      return Promise.resolve({ conversations: [row("s", 4), row("t", 3)], next: null, total: 2 });
    });
    await loadMore();
    expect(order()).toEqual(["t"]);
  });
});
