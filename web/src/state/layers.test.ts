// @vitest-environment jsdom
import { beforeEach, expect, it, vi } from "vitest";

import { followLayers } from "./layers";
import { followHistory, go, useRoute } from "./route";
import { moved, openDocument, openDrawer, useView } from "./view";

let narrow = true;
vi.stubGlobal("matchMedia", () => ({ matches: narrow }));
followHistory();
followLayers();

const back = (): Promise<void> =>
  new Promise((done) => {
    addEventListener("popstate", () => done(), { once: true });
    history.back();
  });
const settled = () => new Promise((done) => setTimeout(done, 20));
const place = () => useRoute.getState();

beforeEach(async () => {
  narrow = true;
  moved();
  await settled();
  go("/c/first");
  go("/c/second");
});

it("Back closes a document before it leaves the conversation, and then leaves it", async () => {
  openDocument("plan");
  await back();
  expect([useView.getState().document, place()]).toEqual([null, { at: "conversation", id: "second" }]);
  expect(useView.getState().shut).toBe(true);
  await back();
  expect(place()).toEqual({ at: "conversation", id: "first" });
});

it("Back closes the drawer first, and the document below it after that", async () => {
  openDocument("plan");
  openDrawer(true);
  await back();
  expect(useView.getState()).toMatchObject({ drawer: false, document: "plan" });
  await back();
  expect(useView.getState().document).toBeNull();
  expect(place()).toEqual({ at: "conversation", id: "second" });
});

it("what was closed on the page leaves no step behind", async () => {
  openDrawer(true);
  openDrawer(false);
  await settled();
  openDocument("plan");
  openDocument(null);
  openDocument("other");
  await settled();
  expect(useView.getState().document).toBe("other");
  await back();
  expect(useView.getState().document).toBeNull();
  await back();
  expect(place()).toEqual({ at: "conversation", id: "first" });
});

it("Back from a place that was opened in the drawer finds the drawer closed", async () => {
  openDrawer(true);
  go("/inbox");
  moved();
  await settled();
  await back();
  expect([useView.getState().drawer, place()]).toEqual([false, { at: "conversation", id: "second" }]);
  await back();
  expect(place()).toEqual({ at: "conversation", id: "first" });
});

it("beside a conversation, on a wide screen, a document is no step", async () => {
  narrow = false;
  openDocument("plan");
  await back();
  expect(place()).toEqual({ at: "conversation", id: "first" });
});
