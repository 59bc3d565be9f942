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
  expect(screen.getByRole("alert").textContent).toBe(text);
  const wrong = fields.filter((field) => field.getAttribute("aria-invalid") === "true");
  expect(wrong).toHaveLength(1);
  expect(wrong[0]?.getAttribute("aria-describedby")).toBe(container.querySelector(".fault")?.id);
});
