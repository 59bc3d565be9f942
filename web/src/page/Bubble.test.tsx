// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";

import { Bubble } from "./Bubble";

afterEach(cleanup);

it.each(["line\n".repeat(25), "x".repeat(2500)])("a long message is folded, with all of its text, until the person unfolds it %#", (text) => {
  const { container } = render(<Bubble text={text} />);
  const bubble = container.querySelector(".bubble") as HTMLElement;
  expect(bubble.classList.contains("folded")).toBe(true);
  expect(bubble.textContent).toBe(text);
  fireEvent.click(screen.getByRole("button", { name: "Show all of it" }));
  expect(bubble.classList.contains("folded")).toBe(false);
  fireEvent.click(screen.getByRole("button", { name: "Show less" }));
  expect(bubble.classList.contains("folded")).toBe(true);
});

it("a short message is shown as a whole", () => {
  render(<Bubble text={"one\ntwo"} />);
  expect(screen.queryByRole("button")).toBeNull();
});
