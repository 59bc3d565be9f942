// @vitest-environment jsdom
import { act, cleanup, render } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { Entry } from "../state/thread";
import { Chunk, chunks } from "./Chunk";

const drawn = vi.hoisted(() => [] as string[]);
vi.mock("./Leaf", () => ({
  Leaf: ({ entry }: { entry: Entry }) => {
    drawn.push(entry.turn.id);
    return <p>{entry.turn.content}</p>;
  },
}));

let see: (seen: boolean) => void = () => undefined;
class Watcher {
  constructor(changed: (seen: { isIntersecting: boolean }[]) => void) {
    see = (isIntersecting) => act(() => changed([{ isIntersecting }]));
  }
  observe = () => undefined;
  disconnect = () => undefined;
}

beforeEach(() => {
  drawn.length = 0;
  vi.stubGlobal("IntersectionObserver", Watcher);
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const entry = (ordinal: number) => ({ turn: { id: `t${ordinal}`, ordinal, content: `words of ${ordinal}` }, log: {} }) as Entry;
const usual = { last: null, editing: null, editedOrdinal: Infinity, mark: null, scroller: { current: null } };

test("a turn that grows is drawn again, and no group but its own", () => {
  const entries = Array.from({ length: 40 }, (_, n) => entry(n));
  const all = (given: Entry[]) => chunks(given).map((chunk) => <Chunk key={chunk.key} {...usual} entries={chunk.entries} last="t39" findable />);
  const { rerender } = render(<>{all(entries)}</>);
  expect(drawn).toHaveLength(40);
  drawn.length = 0;
  rerender(<>{all(entries)}</>);
  expect(drawn).toEqual([]);
  rerender(<>{all([...entries.slice(0, 39), { ...entry(39) }])}</>);
  expect(drawn.every((id) => Number(id.slice(1)) >= 32)).toBe(true);
  expect(drawn).toContain("t39");
});

test("turns that are far away stay in the document, so that the browser finds their words", () => {
  const { container } = render(<Chunk {...usual} entries={[entry(1)]} findable />);
  see(false);
  expect(container.textContent).toBe("words of 1");
  expect(container.querySelector<HTMLElement>(".chunk")?.style.height).toBe("");
});

test("in a very long conversation they are a box of the same height, until they come near", () => {
  const { container } = render(<Chunk {...usual} entries={[entry(1)]} findable={false} />);
  see(false);
  expect(container.textContent).toBe("");
  expect(container.querySelector<HTMLElement>(".chunk")?.style.height).toBe("0px");
  see(true);
  expect(container.textContent).toBe("words of 1");
});
