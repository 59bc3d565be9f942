import { beforeEach, describe, expect, it, vi } from "vitest";

import * as api from "../api/calls";
import type { Conversation } from "../api/types";
import { dropRow, loadList, putRow, useList } from "./list";

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
});
