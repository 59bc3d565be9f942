import { expect, test } from "vitest";

import type { Conversation } from "../api/types";
import { draftOf, setDraft, useDrafts } from "./drafts";
import { dropRow, putRow, useList } from "./list";
import { createRecords, records } from "./records";

const NAMES = ["constructor", "toString", "hasOwnProperty", "__proto__"];

test.each(NAMES)("the id %s is an id like any other", (id) => {
  const useStore = createRecords<{ n: number }>();
  expect(useStore.getState()[id]).toBeUndefined();
  useStore.setState({ [id]: { n: 1 } });
  useStore.setState((before) => ({ other: { n: (before[id]?.n ?? 0) + 1 } }));
  expect(Object.entries(useStore.getState())).toEqual([[id, { n: 1 }], ["other", { n: 2 }]]);
  const { [id]: gone, ...rest } = useStore.getState();
  useStore.setState(rest, true);
  expect([gone, useStore.getState()[id], useStore.getState().other]).toEqual([{ n: 1 }, undefined, { n: 2 }]);
  expect(Object.keys(records({ [id]: 1 }, { b: 2 }))).toEqual([id, "b"]);
});

test.each(NAMES)("a conversation %s has a draft and a row of its own", (id) => {
  expect(draftOf(useDrafts.getState(), id)).toBe("");
  setDraft(id, "words");
  expect(draftOf(useDrafts.getState(), id)).toBe("words");
  expect(useList.getState().rows[id]).toBeUndefined();
  putRow({ id, title: "A title", updated_at: 1 } as Conversation);
  expect(useList.getState().rows[id]?.title).toBe("A title");
  dropRow(id);
  expect(useList.getState().rows[id]).toBeUndefined();
});
