// @vitest-environment jsdom
import { act, cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";

import * as connection from "../state/connection";
import { useInbox } from "../state/inbox";
import { words, WordsContext } from "../words/words";
import { Inbox } from "./Inbox";
import { focusBox } from "./places";

vi.mock("../api/calls", () => ({ inbox: () => new Promise(() => undefined) }));
vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined, removeEventListener: () => undefined }));

const show = () =>
  render(
    <WordsContext value={words("en")}>
      <Inbox />
    </WordsContext>,
  );
afterEach(cleanup);

it("tells that the connection is lost, and tries at once if the person wants it", () => {
  const tried = vi.spyOn(connection, "tryNow");
  show();
  expect(screen.queryByRole("button", { name: "Try now" })).toBeNull();
  act(() => connection.useConnection.setState({ lost: { retryAt: performance.now() + 60_000 } }));
  expect(screen.getByRole("status").textContent).toContain("Connection lost, nothing else.");
  screen.getByRole("button", { name: "Try now" }).click();
  expect(tried).toHaveBeenCalledOnce();
  act(() => connection.useConnection.setState({ lost: null }));
});

it("without a message box the way to it leads to the heading, or to the content", () => {
  useInbox.setState({ phase: "loading" });
  show();
  focusBox(true);
  expect(document.activeElement?.id).toBe("scroll");
  act(() => useInbox.setState({ phase: "ready", items: [] }));
  focusBox(true);
  expect(document.activeElement?.textContent).toBe("Nothing waits for you.");
});
