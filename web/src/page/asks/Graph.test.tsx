// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import * as api from "../../api/calls";
import { readJson, writeJson } from "../../api/json";
import type { Interrupt, Turn } from "../../api/types";
import { useAnswers, useChosen } from "../../state/answers";
import { Ask } from "./Ask";

vi.mock("../../api/calls");
vi.mock("./moment", () => ({ GUARD: 40, SLOW: 40, TOLD: 400 }));
const answer = vi.mocked(api.answer);

const GRAPH: Interrupt = {
  id: "int-1",
  kind: "graph",
  tool_call_id: null,
  name: null,
  args: {},
  label: "Question",
  description: "Question: Which?",
  unknown: false,
  questions: [],
  reason: "",
  context: "",
  fields: [],
  value: "Which?",
  agent: "lead_agent",
  parent: null,
  expires_at: null,
  decisions: ["value", "reject"],
  file: null,
  changed: false,
  note: "",
};

vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined, removeEventListener: () => undefined }));
Element.prototype.scrollIntoView = () => undefined;

beforeEach(() => {
  useAnswers.setState({}, true);
  useChosen.setState({}, true);
  sessionStorage.clear();
  answer.mockReset();
  answer.mockResolvedValue({} as Turn);
});
afterEach(async () => {
  // The focus moves a moment after an answer.
  await new Promise((later) => setTimeout(later, 60));
  cleanup();
  vi.restoreAllMocks();
});

const show = (value: unknown) => render(<Ask interrupts={[{ ...GRAPH, value }]} asked={{}} />);
const given = () => answer.mock.calls.map(([, body]) => body);
const button = (name: string) => screen.getByRole("button", { name: new RegExp(`^${name}`) });
const press = async (name: string) => {
  await waitFor(() => expect(button(name).hasAttribute("aria-disabled")).toBe(false));
  await userEvent.setup().click(button(name));
};
const radios = () => screen.getAllByRole("radio").map((radio) => radio.parentElement?.textContent);
const checked = () => screen.getAllByRole<HTMLInputElement>("radio").filter((radio) => radio.checked);
const unfold = () => userEvent.click(screen.getByText("Answer with JSON"));

describe("a question of a graph", () => {
  it("shows its words, and its other members under their names", () => {
    show({ message: "Publish this?", draft: "Dear all,\n\nwe are \u202eopen.", copies: 3, to: ["a@b.c"] });
    expect(document.querySelector(".asked > .lbl")?.textContent).toBe("Publish this?");
    const terms = [...document.querySelectorAll("dt")].map((term) => [term.textContent, term.nextElementSibling?.textContent]);
    expect(terms).toEqual([
      ["draft", "Dear all,\n\nwe are \\u202eopen."],
      ["copies", "3"],
      ["to", '["a@b.c"]'],
    ]);
    expect(document.querySelector(".ask")?.textContent).not.toContain("{");
  });

  it("has nothing chosen, and JSON folded away", async () => {
    show({ message: "Publish this?", draft: "…" });
    expect(radios()).toEqual(["Yes", "Own answer"]);
    expect(checked()).toEqual([]);
    expect(screen.queryByRole("textbox", { name: "JSON" })).toBeNull();
    await press("Send");
    expect(document.querySelector("fieldset .fault")?.textContent).toBe("Please answer this one.");
    expect(given()).toEqual([]);
  });

  it("says that an answer is waited for, if it says nothing itself", () => {
    for (const value of [null, "", {}, []]) {
      show(value);
      expect(screen.getByText("The agent waits for your answer.")).toBeTruthy();
      expect(document.querySelector(".full")).toBeNull();
      cleanup();
    }
  });

  it("is answered with yes, which is true", async () => {
    show({ message: "Publish this?" });
    await userEvent.click(screen.getByRole("radio", { name: "Yes" }));
    await press("Send");
    expect(given()).toEqual([{ decision: "value", value: true }]);
  });

  it("is refused with a reason, and shown again before that", async () => {
    show({ message: "Publish this?", draft: "Dear all" });
    await userEvent.click(button("Refuse"));
    expect(document.querySelector(".asked")?.textContent).toBe("Publish this?draftDear all");
    fireEvent.change(screen.getByRole("textbox"), { target: { value: "not yet" } });
    await press("Refuse");
    expect(given()).toEqual([{ decision: "reject", message: "not yet" }]);
  });

  it("is answered with own words, as they were written", async () => {
    show({ message: "Publish this?" });
    await userEvent.type(screen.getByRole("textbox", { name: "Own answer" }), "tomorrow{Enter}at 9");
    expect(checked()).toHaveLength(1);
    await press("Send");
    expect(given()).toEqual([{ decision: "value", value: "tomorrow\nat 9" }]);
  });

  it("takes no empty words for an answer", async () => {
    show("Which?");
    await press("Send");
    expect(document.querySelector("fieldset .fault")?.textContent).toBe("Please answer this one.");
    expect(document.activeElement).toBe(screen.getByRole("textbox"));
    expect(given()).toEqual([]);
  });

  it("that is a plain text is answered with one", async () => {
    show("Which?");
    fireEvent.change(screen.getByRole("textbox"), { target: { value: "the red one" } });
    await press("Send");
    expect(given()).toEqual([{ decision: "value", value: "the red one" }]);
  });

  it("gets the JSON that it wants", async () => {
    show({ question: "Which?" });
    await unfold();
    fireEvent.change(screen.getByRole("textbox", { name: "JSON" }), { target: { value: '{"choice": ' } });
    await press("Send");
    expect(screen.getByText("This is not valid JSON.")).toBeTruthy();
    fireEvent.change(screen.getByRole("textbox", { name: "JSON" }), { target: { value: '{"choice": 2}' } });
    expect(screen.queryByText("This is not valid JSON.")).toBeNull();
    await press("Send");
    expect(given()).toEqual([{ decision: "value", value: { choice: 2 } }]);
  });

  it("does not get JSON that was folded away again", async () => {
    show({ question: "Which?" });
    await unfold();
    fireEvent.change(screen.getByRole("textbox", { name: "JSON" }), { target: { value: "1" } });
    await unfold();
    await waitFor(() => expect(checked()).toEqual([]));
    await press("Send");
    expect(given()).toEqual([]);
  });

  it("is answered after all of its members were read to their end", async () => {
    vi.spyOn(Element.prototype, "scrollHeight", "get").mockReturnValue(900);
    vi.spyOn(Element.prototype, "clientHeight", "get").mockReturnValue(300);
    show({ question: "Which?", choices: ["a", "b"], draft: "a long text", rows: [1, 2] });
    expect(screen.getAllByText("More below")).toHaveLength(2);
    for (const text of document.querySelectorAll<HTMLElement>(".held")) {
      expect(button("Send").hasAttribute("data-blocked")).toBe(true);
      text.scrollTop = 600;
      fireEvent.scroll(text);
    }
    await waitFor(() => expect(button("Send").hasAttribute("data-blocked")).toBe(false));
  });

  it("keeps what was chosen and typed", async () => {
    show({ question: "Which?", choices: ["a", "b"] });
    await userEvent.click(screen.getByRole("radio", { name: "b" }));
    cleanup();
    show({ question: "Which?", choices: ["a", "b"] });
    expect(checked()).toEqual([screen.getByRole("radio", { name: "b" })]);
    cleanup();
    show({ question: "Which?", choices: ["a"] });
    expect(checked()).toEqual([]);
  });
});

describe("the answers that a graph offers", () => {
  it("are sent as they are, with their type", async () => {
    show(readJson('{"question": "How many?", "choices": [1, "two", 12345678901234567890]}'));
    expect(radios()).toEqual(["1", "two", "12345678901234567890", "Own answer"]);
    for (const [name, sent] of [
      ["1", "1"],
      ["two", '"two"'],
      ["12345678901234567890", "12345678901234567890"],
    ] as const) {
      useAnswers.setState({}, true);
      answer.mockClear();
      await userEvent.click(screen.getByRole("radio", { name }));
      await press("Send");
      expect(writeJson((given()[0] as { value: unknown }).value)).toBe(sent);
    }
  });

  it("are chosen by their numbers, and digits in an own answer are its own", async () => {
    show({ question: "Which?", choices: ["a", "b"] });
    const card = screen.getByRole("group", { name: "lead_agent asks" });
    card.focus();
    await userEvent.keyboard("2");
    expect(checked()).toEqual([screen.getByRole("radio", { name: "b" })]);
    await userEvent.keyboard("3");
    expect(document.activeElement).toBe(screen.getByRole("textbox"));
    await userEvent.keyboard("12r");
    expect(screen.getByRole<HTMLTextAreaElement>("textbox").value).toBe("12r");
    await userEvent.keyboard("{ArrowDown}");
    expect(checked()).toEqual([screen.getByRole("radio", { name: "a" })]);
    expect(within(card).queryByText(/Why\?/)).toBeNull();
  });
});
