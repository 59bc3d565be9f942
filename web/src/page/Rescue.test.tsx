// @vitest-environment jsdom
import { act, cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { useState } from "react";
import { afterEach, expect, it, vi } from "vitest";

import { holdFocus } from "./asks/hold";
import { useRescue } from "./Rescue";

vi.stubGlobal("matchMedia", () => ({ matches: false }));
afterEach(cleanup);

function Page() {
  useRescue();
  const [gone, setGone] = useState<string[]>([]);
  const leave = (name: string) => setGone([...gone, name]);
  const button = (name: string) => (gone.includes(name) ? null : <button onClick={() => leave(name)}>{name}</button>);
  return (
    <div>
      <div className="side">
        {button("row")}
        <div className="list">
          <div className="conv">
            <a href="/c/1" tabIndex={0}>
              next row
            </a>
          </div>
        </div>
      </div>
      <button id="docs">documents</button>
      <div className="panel">{button("close")}</div>
      {button("again")}
      <button disabled={gone.includes("send")} onClick={() => leave("send")}>
        send
      </button>
      <textarea id="box" aria-label="box" />
    </div>
  );
}

it.each([
  ["again", "box"],
  ["send", "box"],
  ["row", "next row"],
  ["close", "documents"],
])("when %s is gone, the focus goes to %s", async (name, place) => {
  render(<Page />);
  const button = screen.getByRole("button", { name });
  act(() => button.focus());
  fireEvent.click(button);
  await waitFor(() => expect(document.activeElement?.textContent || document.activeElement?.id).toBe(place));
});

it("stays with a question whose answer is on its way, so that the next key does not go to the box", async () => {
  function Answered() {
    useRescue();
    const [sent, setSent] = useState(false);
    return (
      <>
        <section data-ask={sent ? undefined : "q"} data-card tabIndex={-1}>
          <button disabled={sent} onClick={() => setSent(true)}>
            approve
          </button>
        </section>
        <textarea id="box" />
      </>
    );
  }
  render(<Answered />);
  const button = screen.getByRole("button", { name: "approve" });
  act(() => button.focus());
  const goOn = holdFocus("q");
  fireEvent.click(button);
  await waitFor(() => expect(document.activeElement).toBe(button.parentElement));
  goOn(true);
  await waitFor(() => expect(document.activeElement?.id).toBe("box"));
});

it("who clicked beside all controls keeps nothing", async () => {
  render(<Page />);
  const button = screen.getByRole("button", { name: "again" });
  act(() => button.focus());
  fireEvent.pointerDown(document.body);
  act(() => button.blur());
  fireEvent.click(button);
  await new Promise((later) => setTimeout(later, 30));
  expect(document.activeElement).toBe(document.body);
});
