// @vitest-environment jsdom
import { act, cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import * as api from "../api/calls";
import { ApiError } from "../api/client";
import { learnClock } from "../api/clock";
import type { Conversation } from "../api/types";
import { dropRow, putRow, useList } from "../state/list";
import { search, useSearch } from "../state/search";
import { openDrawer, useView } from "../state/view";
import { Sidebar } from "./Sidebar";

vi.mock("../api/calls");
vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined, removeEventListener: () => undefined }));
vi.stubGlobal("IntersectionObserver", class { observe = () => undefined; disconnect = () => undefined; });

const row = (id: string, title: string): Conversation => ({ id, title, agent: "a", status: "idle", active_turn: null, message_count: 0, created_at: 1, updated_at: 1 });
const conversations = vi.mocked(api.conversations);

beforeEach(() => {
  const rows = { c1: row("c1", "One"), c2: row("c2", "Two"), c3: row("c3", "Three") };
  useList.setState({ rows, order: ["c1", "c2", "c3"], next: null, phase: "ready" });
  conversations.mockReset();
});
afterEach(() => {
  cleanup();
  act(() => search(""));
  useView.setState({ drawer: false });
});

const stops = () => [...document.querySelectorAll<HTMLElement>(".list a, .list button")].filter((item) => item.tabIndex >= 0).map((item) => item.textContent);

it("the list is one stop for Tab, and arrows lead through it", async () => {
  render(<Sidebar />);
  expect(stops()).toEqual(["One"]);
  const link = (name: string) => screen.getByRole("link", { name });
  act(() => link("One").focus());
  const press = (key: string) => fireEvent.keyDown(document.activeElement as Element, { key });
  press("ArrowDown");
  expect(document.activeElement).toBe(link("Two"));
  expect(stops()).toEqual(["Two"]);
  press("End");
  expect(document.activeElement).toBe(link("Three"));
  press("ArrowDown");
  expect(document.activeElement).toBe(link("Three"));
  press("Home");
  press("ArrowRight");
  const rename = await screen.findByRole("menuitem", { name: "Rename" });
  await waitFor(() => expect(document.activeElement).toBe(rename));
});

it("a new title that was not taken stays in its field, with the reason", async () => {
  vi.mocked(api.rename).mockRejectedValueOnce(new ApiError(0, "unreachable", "")).mockResolvedValueOnce(row("c2", "Careful"));
  render(<Sidebar />);
  act(() => useView.setState({ renaming: "c2" }));
  const field = await screen.findByRole<HTMLInputElement>("textbox", { name: "Rename" });
  fireEvent.change(field, { target: { value: "Careful" } });
  fireEvent.keyDown(field, { key: "Enter" });
  expect((await screen.findByRole("alert")).textContent).toBe("The server did not answer. Try again.");
  act(() => field.blur());
  expect(field.value).toBe("Careful");
  fireEvent.keyDown(field, { key: "Enter" });
  await waitFor(() => expect(screen.queryByRole("textbox", { name: "Rename" })).toBeNull());
  expect(vi.mocked(api.rename).mock.calls).toEqual([["c2", "Careful"], ["c2", "Careful"]]);
  expect(screen.getByRole("link", { name: "Careful" })).toBeTruthy();
});

it("a new title that the server could not store says so", async () => {
  vi.mocked(api.rename).mockRejectedValueOnce(new ApiError(503, "unavailable", ""));
  render(<Sidebar />);
  act(() => useView.setState({ renaming: "c2" }));
  const field = await screen.findByRole<HTMLInputElement>("textbox", { name: "Rename" });
  fireEvent.change(field, { target: { value: "Careful" } });
  fireEvent.keyDown(field, { key: "Enter" });
  expect((await screen.findByRole("alert")).textContent).toContain("The server cannot store anything right now.");
});

it("a new title that was taken without a response is seen when the feed tells it", async () => {
  vi.mocked(api.rename).mockRejectedValueOnce(new ApiError(0, "unreachable", ""));
  render(<Sidebar />);
  act(() => useView.setState({ renaming: "c2" }));
  const field = await screen.findByRole<HTMLInputElement>("textbox", { name: "Rename" });
  fireEvent.change(field, { target: { value: "Careful" } });
  fireEvent.keyDown(field, { key: "Enter" });
  await screen.findByRole("alert");
  act(() => putRow(row("c2", "Careful")));
  await waitFor(() => expect(screen.queryByRole("textbox", { name: "Rename" })).toBeNull());
});

it("a renamed row has the focus again", async () => {
  vi.mocked(api.rename).mockResolvedValue(row("c2", "New"));
  render(<Sidebar />);
  act(() => useView.setState({ renaming: "c2" }));
  const field = await screen.findByRole("textbox", { name: "Rename" });
  fireEvent.change(field, { target: { value: "New" } });
  fireEvent.keyDown(field, { key: "Enter" });
  await waitFor(() => expect(document.activeElement?.getAttribute("data-row")).toBe("c2"));
});

it("titles are searched on the server, the newest wish counts, and Esc ends it", async () => {
  let late: (page: api.ConversationPage) => void = () => undefined;
  conversations.mockReturnValueOnce(new Promise((resolve) => (late = resolve)));
  conversations.mockResolvedValue({ conversations: [row("c9", "Plan of old"), row("c2", "stale title")], total: 2, next: null });
  render(<Sidebar />);
  const field = screen.getByRole("searchbox", { name: "Search titles" });
  fireEvent.change(field, { target: { value: "pl" } });
  await waitFor(() => expect(conversations).toHaveBeenCalledTimes(1));
  fireEvent.change(field, { target: { value: "pla" } });
  await waitFor(() => expect(screen.getByRole("link", { name: "Plan of old" })).toBeTruthy());
  expect(conversations.mock.calls.map(([, , query]) => query)).toEqual(["pl", "pla"]);
  act(() => late({ conversations: [row("c8", "Too late")], total: 1, next: null }));
  // What the feed told is newer than what was found.
  expect([...document.querySelectorAll("[data-row]")].map((item) => item.textContent)).toEqual(["Plan of old", "Two"]);
  act(() => dropRow("c9"));
  expect(screen.queryByText("Plan of old")).toBeNull();
  fireEvent.keyDown(field, { key: "Escape" });
  expect(useSearch.getState().query).toBe("");
  expect(screen.getByRole("link", { name: "Three" })).toBeTruthy();
});

it("an open drawer keeps the focus, and gives it back", () => {
  const opener = document.body.appendChild(document.createElement("button"));
  opener.focus();
  render(<Sidebar />);
  act(() => openDrawer(true));
  const first = screen.getByRole("button", { name: "Hide sidebar" });
  expect(document.activeElement).toBe(first);
  fireEvent.keyDown(first, { key: "Tab", shiftKey: true });
  expect(document.activeElement?.closest(".side-foot")).not.toBeNull();
  fireEvent.keyDown(document.activeElement as Element, { key: "Tab" });
  expect(document.activeElement).toBe(first);
  act(() => openDrawer(false));
  expect(document.activeElement).toBe(opener);
  opener.remove();
});

it("the days are the server's, whatever this machine's clock shows", () => {
  const server = Date.now() + 72 * 3_600_000;
  const answered = (at: number): void => learnClock(new Response(null, { headers: { Date: new Date(at).toUTCString() } }));
  answered(server);
  putRow({ ...row("c1", "One"), updated_at: server });
  render(<Sidebar />);
  expect([...document.querySelectorAll(".list h2")].map((head) => head.textContent)).toEqual(["Today", "Earlier"]);
  answered(Date.now());
});
