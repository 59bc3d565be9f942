// @vitest-environment jsdom
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { forgetDrafts, setDraft, storeDraft } from "../state/drafts";
import { signOut } from "../state/session";
import { openDialog } from "../state/view";
import { Dialogs } from "./Dialogs";
import { SettingsMenu } from "./SettingsMenu";

vi.mock("../api/calls");
vi.mock("../state/session", async (original) => ({ ...(await original<object>()), signOut: vi.fn() }));
vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined, removeEventListener: () => undefined }));
const left = vi.mocked(signOut);

beforeEach(() => {
  forgetDrafts();
  left.mockReset();
});
afterEach(() => {
  openDialog(null);
  cleanup();
});

async function choose(name: string): Promise<void> {
  render(
    <>
      <SettingsMenu onClose={() => undefined} />
      <Dialogs />
    </>,
  );
  await userEvent.click(screen.getByRole("button", { name }));
}

it("who has nothing unsent is signed out at once", async () => {
  storeDraft("sent.new", JSON.stringify({ key: "k", body: { content: "on its way" } }));
  storeDraft("ask.q1", JSON.stringify({ mode: "refuse", choices: [{ option: 1, own: "" }] }));
  await choose("Sign out");
  expect(left).toHaveBeenCalledOnce();
  expect(screen.queryByRole("alertdialog")).toBeNull();
});

it.each([
  ["a message", () => setDraft("c1", "a thought")],
  ["a message of another tab", () => localStorage.setItem("caesura.draft.c1", "a thought")],
  ["an edited message", () => storeDraft("instead.t1", "a better thought")],
  ["a document", () => storeDraft("document.c1.d1", JSON.stringify({ text: "", base: 1 }))],
  ["an answer", () => storeDraft("ask.q1", JSON.stringify({ choices: [{ option: 0, own: "my own" }] }))],
])("who has written %s and not sent it is asked before it goes", async (_, write) => {
  write();
  await choose("Sign out");
  expect(screen.getByRole("alertdialog", { name: "You have unsent text. Sign out?" })).toBeTruthy();
  expect(document.activeElement?.textContent).toBe("Cancel");
  await userEvent.keyboard("{Enter}");
  expect(screen.queryByRole("alertdialog")).toBeNull();
  expect(left).not.toHaveBeenCalled();
});

it("who wants to sign out although a text is unsent can", async () => {
  setDraft("c1", "a thought");
  await choose("Sign out");
  await userEvent.click(screen.getAllByRole("button", { name: "Sign out" }).at(-1) as HTMLElement);
  expect(left).toHaveBeenCalledExactlyOnceWith(false);
});

it("nobody is signed out everywhere without being asked", async () => {
  await choose("Sign out everywhere");
  expect(left).not.toHaveBeenCalled();
  expect(screen.getByRole("alertdialog", { name: "Sign out everywhere?" })).toBeTruthy();
  await userEvent.click(screen.getAllByRole("button", { name: "Sign out everywhere" }).at(-1) as HTMLElement);
  expect(left).toHaveBeenCalledExactlyOnceWith(true);
});
