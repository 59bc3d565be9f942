// @vitest-environment jsdom
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";

import { useInbox } from "../state/inbox";
import { useRoute } from "../state/route";
import { useSettings } from "../state/settings";
import { Bar } from "./Bar";

vi.mock("../api/calls");
vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined, removeEventListener: () => undefined }));
afterEach(cleanup);

it("the button of the sidebar says how much waits, and a new conversation is one click away without it", () => {
  useInbox.setState({ count: 3 });
  useSettings.setState({ sideHidden: true });
  useRoute.setState({ at: "inbox" }, true);
  render(<Bar />);
  expect(screen.getByRole("button", { name: "Open sidebar. Waits for you: 3" }).textContent).toBe("3");
  expect(screen.getByRole("link", { name: "New conversation" }).className).toContain("always");
  cleanup();
  useInbox.setState({ count: 0 });
  render(<Bar />);
  expect(screen.getByRole("button", { name: "Open sidebar" }).textContent).toBe("");
});
