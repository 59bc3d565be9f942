import { beforeEach, describe, expect, it } from "vitest";

import type { Conversation } from "../api/types";
import { dropRow, putRow, useList } from "./list";

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
});
