// @vitest-environment jsdom
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";

import * as api from "../api/calls";
import { ApiError } from "../api/client";
import { useSession } from "../state/session";
import { words, WordsContext } from "../words/words";
import { Door } from "./Door";

vi.mock("../api/calls");
vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined, removeEventListener: () => undefined }));

const show = (language: "en" | "zh" = "en") =>
  render(
    <WordsContext value={words(language)}>
      <Door />
    </WordsContext>,
  );
afterEach(cleanup);

it("who arrives may write their name at once", () => {
  show();
  expect(document.activeElement).toBe(screen.getByLabelText("Username"));
});

it.each([
  ["username_taken", "用户名已被占用。"],
  ["bad_username", "小写字母、数字和 . _ -，最多 50 个。"],
  ["bad_password", "至少 8 个字符。"],
  ["bad_invite", "邀请码无效：可能有误、已使用或已过期。"],
])("why nobody is registered (%s) is said in the language of the page, beside its field", async (code, text) => {
  useSession.setState({ options: { auth: "password", registration: "invite" } });
  vi.mocked(api.register).mockRejectedValue(new ApiError(400, code, "raw words"));
  const { container } = show("zh");
  await userEvent.click(screen.getByRole("button", { name: "注册" }));
  const fields = [...container.querySelectorAll("input")];
  for (const field of fields) await userEvent.type(field, "something");
  await userEvent.keyboard("{Enter}");
  expect(container.querySelector(".fault")?.textContent).toBe(text);
  const wrong = fields.filter((field) => field.getAttribute("aria-invalid") === "true");
  expect(wrong).toHaveLength(1);
  expect(wrong[0]?.getAttribute("aria-describedby")).toBe(container.querySelector(".fault")?.id);
  expect(wrong[0]?.closest(".field")?.querySelector(".fault")).not.toBeNull();
  expect(document.activeElement).toBe(wrong[0]);
});

it("all that is wrong is told at once, each below its field, and the first of them has the focus", async () => {
  useSession.setState({ options: { auth: "password", registration: "open" } });
  vi.mocked(api.register).mockClear();
  show();
  await userEvent.click(screen.getByRole("button", { name: "Create account" }));
  const name = screen.getByLabelText("Username");
  await userEvent.type(name, "Not Allowed");
  await userEvent.type(screen.getByLabelText("Password"), "short{Enter}");
  const below = (label: string) => document.getElementById(screen.getByLabelText(label).getAttribute("aria-describedby") ?? "")?.textContent;
  expect(below("Username")).toContain("Lowercase letters");
  expect(below("Password")).toContain("8 characters or more");
  expect(document.querySelectorAll(".fault")).toHaveLength(2);
  expect(document.activeElement).toBe(name);
  expect(api.register).not.toHaveBeenCalled();
});

it("who chooses another form by the keyboard writes on in its first field", async () => {
  show();
  screen.getByRole("button", { name: "Create account" }).focus();
  await userEvent.keyboard("{Enter}");
  expect(document.activeElement).toBe(screen.getByLabelText("Username"));
});

it("says why somebody is here whose session was ended from elsewhere", () => {
  useSession.setState({ revoked: true });
  show();
  expect(screen.getByRole("status").textContent).toMatch(/^You were signed out from elsewhere/);
  useSession.setState({ revoked: false });
});
