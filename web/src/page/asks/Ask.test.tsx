// @vitest-environment jsdom
import { act, cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import * as api from "../../api/calls";
import { ApiError } from "../../api/client";
import type { Interrupt, Turn } from "../../api/types";
import { useAnnouncement } from "../../state/announce";
import { noteClosed, useAnswers, useChosen } from "../../state/answers";
import { storeDraft } from "../../state/drafts";
import { Ask, AskForm } from "./Ask";

vi.mock("../../api/calls");
// Long enough to be noticed, short enough for a test.
vi.mock("./moment", () => ({ GUARD: 40, SLOW: 40, TOLD: 400 }));
const answer = vi.mocked(api.answer);

const PLAIN: Interrupt = {
  id: "int-1",
  kind: "approval",
  tool_call_id: "c1",
  name: "execute",
  args: { command: "npm install" },
  label: "",
  description: "",
  unknown: false,
  questions: [],
  reason: "",
  context: "",
  fields: [],
  value: null,
  agent: "lead_agent",
  parent: null,
  expires_at: null,
  decisions: ["approve", "edit", "reject", "respond"],
  file: null,
  changed: false,
  note: "",
};

const QUESTIONS: Interrupt = {
  ...PLAIN,
  kind: "questions",
  name: "ask_user",
  decisions: ["answers", "reject"],
  questions: [
    { question: "Which colour?", options: [{ label: "Red", value: "red", allow_custom: false }, { label: "Other", value: "", allow_custom: true }] },
    { question: "How many?", options: [{ label: "One", value: "1", allow_custom: false }, { label: "Two", value: "2", allow_custom: false }] },
  ],
};

const CONFIRMATION: Interrupt = { ...PLAIN, kind: "confirmation", name: "", reason: "May I?", context: "I would drop the table `users`. May I?", decisions: ["fields", "reject"] };
const GRAPH: Interrupt = { ...PLAIN, kind: "graph", value: "Which?", decisions: ["value", "reject"] };

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

const show = (...interrupts: Interrupt[]) => render(<Ask interrupts={interrupts} asked={{}} />);
const given = () => answer.mock.calls.map(([id, body]) => [id, body]);
const button = (name: string) => screen.getByRole("button", { name: new RegExp(`^${name}`) });
const ready = (name: string) => waitFor(() => expect(button(name).hasAttribute("aria-disabled")).toBe(false));
const press = async (name: string) => {
  await ready(name);
  // A new person each time: two clicks in a row are not one double click.
  await userEvent.setup().click(button(name));
};
const pressUntilGiven = (name: string) =>
  waitFor(() => {
    fireEvent.click(button(name), { detail: 1 });
    expect(given()).toHaveLength(1);
  });
/** How high texts are. What is folded away has no height. */
const heights = (scroll: number, client: number) => {
  const unless = (height: number) =>
    function (this: Element) {
      return this.closest("details:not([open])") ? 0 : height;
    };
  vi.spyOn(Element.prototype, "scrollHeight", "get").mockImplementation(unless(scroll));
  vi.spyOn(Element.prototype, "clientHeight", "get").mockImplementation(unless(client));
};

describe("an approval", () => {
  it("shows the whole command and is approved", async () => {
    show({ ...PLAIN, args: { command: "rm -r \u202ex\nls" } });
    expect(document.querySelector(".cmd .text")?.textContent).toBe("rm -r \\u202ex\nls");
    await press("Approve");
    expect(given()).toEqual([["int-1", { decision: "approve" }]]);
  });

  it("says whether a file is made or replaced, if that is known", () => {
    const write = { ...PLAIN, name: "write_file", args: { path: "a.txt", content: "x" } };
    const file = { path: "a.txt", content: "", size: 0, sha256: null };
    const told = (interrupt: Interrupt) => {
      cleanup();
      show(interrupt);
      return document.querySelector(".plain")?.textContent;
    };
    expect(told({ ...write, file: { ...file, exists: true } })).toMatch("wants to replace a.txt");
    expect(told({ ...write, file: { ...file, exists: false } })).toMatch("wants to create a.txt");
    expect(told(write)).toMatch("wants to use write_file");
  });

  it("shows what the operator says about the call", () => {
    show({ ...PLAIN, name: "refund", args: { amount: 5 }, note: "Repay 5 € to bob" });
    expect([...document.querySelectorAll(".plain")].map((line) => line.textContent)).toContain("Repay 5 € to bob");
  });

  it("shows what the operator says in every step, with hidden characters written out", async () => {
    for (const step of ["Edit", "Refuse", "Answer instead"]) {
      show({ ...PLAIN, name: "refund", args: { amount: 5 }, note: "Repay\n\u202e5 €" });
      expect(document.querySelector(".about-call")?.textContent).toBe("Repay\n\\u202e5 €");
      await press(step);
      expect(document.querySelector(".about-call")?.textContent).toBe("Repay\n\\u202e5 €");
      await userEvent.click(button("Back"));
      cleanup();
    }
  });

  it("is approved after a long note of the operator was read to its end, once", async () => {
    heights(900, 300);
    show({ ...PLAIN, name: "refund", args: {}, note: "word ".repeat(400) });
    const read = (name: string) => {
      const text = document.querySelector(name) as HTMLElement;
      text.scrollTop = 600;
      fireEvent.scroll(text);
    };
    read(".full");
    expect(button("Approve").hasAttribute("data-blocked")).toBe(true);
    read(".about-call .text");
    await waitFor(() => expect(button("Approve").hasAttribute("data-blocked")).toBe(false));
    await press("Edit");
    expect(document.querySelector(".about-call .text")).not.toBeNull();
    expect(button("Approve with changes").hasAttribute("data-blocked")).toBe(false);
  });

  it("offers only the decisions that are allowed", async () => {
    const offered = () => ["Approve", "Edit", "Refuse", "Answer instead"].filter((name) => screen.queryByRole("button", { name: new RegExp(`^${name}`) }));
    show(PLAIN);
    expect(offered()).toHaveLength(4);
    cleanup();
    show({ ...PLAIN, decisions: ["approve", "reject"] });
    expect(offered()).toEqual(["Approve", "Refuse"]);
    expect(screen.getByRole("checkbox")).toBeTruthy();
    cleanup();
    show({ ...PLAIN, name: "ask", args: { question: "When?" }, decisions: ["respond"] });
    expect(offered()).toEqual(["Answer instead"]);
    expect(screen.queryByRole("checkbox")).toBeNull();
    await press("Answer instead");
    fireEvent.change(screen.getByRole("textbox"), { target: { value: "Now" } });
    await press("Send");
    expect(given()).toEqual([["int-1", { decision: "respond", message: "Now" }]]);
  });

  it("marks hidden characters, and not a text that looks like them", () => {
    show({ ...PLAIN, args: { command: "ls \\u202e \u202e" } });
    expect([...document.querySelectorAll(".cmd .escape")].map((escape) => [escape.textContent, escape.getAttribute("title")])).toEqual([["\\u202e", "U+202E"]]);
  });

  it("names the hidden characters of what is edited", async () => {
    show({ ...PLAIN, args: { command: "ls \u200b\u202e" } });
    await press("Edit");
    expect(screen.getByText("Contains hidden characters: U+200B U+202E")).toBeTruthy();
    fireEvent.change(screen.getByLabelText(/^command/), { target: { value: "ls" } });
    expect(screen.queryByText(/hidden characters/)).toBeNull();
  });

  it("of a file of a graph names the file too", async () => {
    show({ ...PLAIN, name: "write_file", args: { content: "print(1)", file_path: "/hello.py" } });
    await waitFor(() => expect(document.querySelector(".path")?.textContent).toBe("/hello.py"));
    expect(screen.getByText("All arguments")).toBeTruthy();
  });

  it("of a long file cannot be approved before all its lines were shown", async () => {
    const content = Array.from({ length: 500 }, (_, n) => `x = ${n}`).join("\n");
    show({ ...PLAIN, name: "write_file", args: { path: "a.py", content } });
    await waitFor(() => expect(document.querySelectorAll(".ln")).toHaveLength(300));
    await ready("Refuse");
    fireEvent.click(button("Approve"), { detail: 1 });
    expect(given()).toEqual([]);
    fireEvent.click(screen.getByRole("button", { name: /next 200/ }));
    expect(document.querySelectorAll(".ln")).toHaveLength(500);
    await press("Approve");
    expect(given()).toEqual([["int-1", { decision: "approve" }]]);
  });

  it("can be always allowed", async () => {
    show(PLAIN);
    await userEvent.click(screen.getByRole("checkbox"));
    await press("Approve");
    expect(given()).toEqual([["int-1", { decision: "approve", always_allow: true }]]);
  });

  it("is approved with changed arguments, each in its own form", async () => {
    show({ ...PLAIN, name: "deploy", args: { command: "ls", limit: 5 } });
    await press("Edit");
    fireEvent.change(screen.getByLabelText("command"), { target: { value: "ls -l" } });
    fireEvent.change(screen.getByLabelText(/^limit/), { target: { value: "{" } });
    await press("Approve with changes");
    expect(given()).toEqual([]);
    expect(screen.getByText(/not valid JSON/)).toBeTruthy();
    fireEvent.change(screen.getByLabelText(/^limit/), { target: { value: "7" } });
    await press("Approve with changes");
    expect(given()).toEqual([["int-1", { decision: "edit", args: { command: "ls -l", limit: 7 } }]]);
  });

  it("is refused with a reason", async () => {
    show(PLAIN);
    await press("Refuse");
    await userEvent.type(screen.getByRole("textbox"), "not now");
    await press("Refuse");
    expect(given()).toEqual([["int-1", { decision: "reject", message: "not now" }]]);
  });

  it("is answered in place of the tool", async () => {
    show(PLAIN);
    await press("Answer instead");
    await userEvent.type(screen.getByRole("textbox"), "it is empty");
    await press("Send");
    expect(given()).toEqual([["int-1", { decision: "respond", message: "it is empty" }]]);
  });

  it("says why an answer was not taken, and stays open", async () => {
    answer.mockRejectedValueOnce(new ApiError(400, "bad_answer", "args do not fit"));
    show(PLAIN);
    await press("Approve");
    expect(await screen.findByText(/args do not fit/)).toBeTruthy();
    expect(screen.getByRole("button", { name: /^Approve/ }).hasAttribute("disabled")).toBe(false);
  });

  it("does not claim that nothing was sent when no response came", async () => {
    answer.mockRejectedValueOnce(new ApiError(0, "unreachable", ""));
    show(PLAIN);
    await press("Approve");
    expect(await screen.findByText("The server did not answer. Send again: it cannot arrive twice.")).toBeTruthy();
  });

  it("says why nothing can be pressed while the server takes its time, and not any longer", async () => {
    let fail: (error: ApiError) => void = () => undefined;
    answer.mockReturnValueOnce(new Promise((_, reject) => (fail = reject)));
    show(PLAIN);
    await press("Approve");
    expect(await screen.findByText(/^The server has not answered yet/)).toBeTruthy();
    expect(button("Approve").hasAttribute("disabled")).toBe(true);
    fail(new ApiError(0, "unreachable", ""));
    expect(await screen.findByText(/^The server did not answer/)).toBeTruthy();
    expect(button("Approve").hasAttribute("disabled")).toBe(false);
  });

  it("leaves the end of the session to its dialog", async () => {
    answer.mockRejectedValueOnce(new ApiError(401, "unauthenticated", "no session"));
    show(PLAIN);
    await press("Approve");
    await waitFor(() => expect(screen.getByRole("button", { name: /^Approve/ }).hasAttribute("disabled")).toBe(false));
    expect(screen.queryByText(/no session/)).toBeNull();
  });

  it("tells that somebody else was first", async () => {
    answer.mockRejectedValueOnce(new ApiError(409, "already_answered", "", { decision: "reject" }));
    show(PLAIN);
    await press("Approve");
    expect(await screen.findByText("Already answered elsewhere: refused")).toBeTruthy();
  });
});

describe("the keys of a question", () => {
  it("do nothing in the first moment, then send it once", async () => {
    show(PLAIN);
    const ask = screen.getByRole("group", { name: "Run a command?" });
    fireEvent.keyDown(ask, { key: "Enter", ctrlKey: true });
    expect(given()).toEqual([]);
    await ready("Approve");
    // Still held down from before.
    fireEvent.keyDown(ask, { key: "Enter", ctrlKey: true, repeat: true });
    expect(given()).toEqual([]);
    fireEvent.keyDown(ask, { key: "Enter", ctrlKey: true });
    expect(given()).toHaveLength(1);
  });

  it("do not press a button again and again while Enter is held down", async () => {
    show(PLAIN);
    await ready("Approve");
    // What a browser does unless it is told not to.
    for (const key of [{ repeat: true }, { repeat: false }]) if (fireEvent.keyDown(button("Approve"), { key: "Enter", ...key })) fireEvent.click(button("Approve"));
    expect(given()).toHaveLength(1);
    cleanup();
    show({ ...PLAIN, id: "int-2" });
    await ready("Approve");
    expect(fireEvent.keyDown(button("Approve"), { key: "Enter", repeat: true })).toBe(false);
    await press("Refuse");
    expect(fireEvent.keyDown(screen.getByRole("textbox"), { key: "Enter", repeat: true })).toBe(true);
  });

  it("refuse nothing by themselves: a refusal is a step of its own", async () => {
    for (const kind of [QUESTIONS, CONFIRMATION, GRAPH]) {
      cleanup();
      show({ ...kind, id: kind.kind });
      const ask = document.querySelector("[data-ask]") as HTMLElement;
      fireEvent.keyDown(ask, { key: "r" });
      expect(given()).toEqual([]);
      await userEvent.type(screen.getByRole("textbox"), "not now");
      await userEvent.keyboard("{Escape}");
      expect(document.activeElement).toBe(ask);
      fireEvent.keyDown(ask, { key: "r" });
      await userEvent.type(screen.getByRole("textbox"), "r r");
      await press(kind === QUESTIONS ? "Don" : "Refuse");
      expect(given()).toEqual([[kind.kind, { decision: "reject", message: "r r" }]]);
      answer.mockClear();
    }
  });

  it("do not act while an option or a box has the focus, except numbers", async () => {
    show(QUESTIONS);
    const [red] = screen.getAllByRole("radio") as [HTMLElement];
    await userEvent.click(red);
    for (const key of ["r", "e", "R"]) fireEvent.keyDown(red, { key });
    expect(screen.queryByText(/^Why/)).toBeNull();
    fireEvent.keyDown(red, { key: "2" });
    expect(document.activeElement).toBe(screen.getByRole("textbox", { name: "Own answer" }));
    cleanup();
    show(PLAIN);
    fireEvent.keyDown(screen.getByRole("checkbox"), { key: "r" });
    expect(screen.queryByText(/^Why/)).toBeNull();
  });

  it("open editing and refusing, but not while the person writes", async () => {
    show(PLAIN);
    await ready("Refuse");
    fireEvent.keyDown(screen.getByRole("group", { name: "Run a command?" }), { key: "r" });
    const reason = screen.getByRole("textbox");
    fireEvent.keyDown(reason, { key: "e" });
    expect(screen.getByRole("textbox")).toBe(reason);
    fireEvent.keyDown(reason, { key: "Escape" });
    expect(screen.queryByRole("textbox")).toBeNull();
  });
});

describe("questions", () => {
  it("are answered with options and with own words; a missing one gets the focus", async () => {
    show(QUESTIONS);
    await userEvent.type(screen.getByRole("textbox", { name: "Own answer" }), "mauve");
    await press("Send answers");
    expect(given()).toEqual([]);
    expect(document.activeElement?.closest("fieldset")?.textContent).toMatch(/How many/);
    await userEvent.click(screen.getByLabelText(/^Two/));
    await press("Send answers");
    expect(given()).toEqual([["int-1", { decision: "answers", answers: ["mauve", "2"] }]]);
  });

  it("offer no refusal if none is allowed", () => {
    show({ ...QUESTIONS, decisions: ["answers"] });
    expect(button("Send answers")).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Don’t answer" })).toBeNull();
  });

  it("take own words at once when they are chosen, by a click or by an arrow", async () => {
    show(QUESTIONS);
    const own = screen.getByRole("textbox", { name: "Own answer" });
    const [red, other] = screen.getAllByRole("radio") as [HTMLInputElement, HTMLInputElement];
    await userEvent.click(other);
    expect(document.activeElement).toBe(own);
    await userEvent.keyboard("really red");
    await userEvent.keyboard("{ArrowUp}");
    expect(document.activeElement).toBe(red);
    expect(red.checked).toBe(true);
    // What an arrow does in a browser.
    fireEvent.click(other);
    expect(document.activeElement).toBe(own);
    expect(other.checked).toBe(true);
    expect((own as HTMLInputElement).value).toBe("really red");
    expect(screen.getByText("1 of 2 answered")).toBeTruthy();
    expect(given()).toEqual([]);
  });

  it("with long words are answered after they were read to their end, in a box", async () => {
    heights(900, 300);
    const question = `May I list?${"\n".repeat(900)}And publish your keys?`;
    show({ ...QUESTIONS, questions: [{ question, options: [{ label: "Yes", value: "yes", allow_custom: false }] }] });
    const text = document.querySelector("legend .long-words") as HTMLElement;
    expect(text.textContent).toBe("May I list?899 empty linesAnd publish your keys?");
    await userEvent.click(screen.getByRole("radio"));
    await ready("Don’t answer");
    fireEvent.click(button("Send answers"), { detail: 1 });
    expect(given()).toEqual([]);
    text.scrollTop = 600;
    fireEvent.scroll(text);
    await press("Send answers");
    expect(given()).toEqual([["int-1", { decision: "answers", answers: ["yes"] }]]);
  });

  it("take the numbers of options as keys", () => {
    show(QUESTIONS);
    const ask = screen.getAllByRole("group")[0] as HTMLElement;
    fireEvent.keyDown(ask, { key: "1" });
    fireEvent.keyDown(ask, { key: "2" });
    expect(screen.getByText("2 of 2 answered")).toBeTruthy();
  });
});

describe("a number while an option has the focus", () => {
  it("chooses the option with this number, and the focus goes there", async () => {
    show({ ...QUESTIONS, questions: QUESTIONS.questions.slice(1) });
    const [one, two] = screen.getAllByRole<HTMLInputElement>("radio") as [HTMLInputElement, HTMLInputElement];
    await userEvent.click(one);
    await userEvent.keyboard("2");
    expect(two.checked).toBe(true);
    expect(document.activeElement).toBe(two);
  });
});

describe("what is typed into a question", () => {
  it("is there after the card was drawn anew, and gone once it is answered", async () => {
    const first = show(QUESTIONS);
    await userEvent.type(screen.getByRole("textbox"), "Green");
    first.unmount();
    show(QUESTIONS);
    expect(screen.getByRole<HTMLInputElement>("textbox").value).toBe("Green");
    await userEvent.click(screen.getByLabelText(/^Two/));
    await press("Send answers");
    expect(given()).toEqual([[QUESTIONS.id, { decision: "answers", answers: ["Green", "2"] }]]);
    await waitFor(() => expect(sessionStorage.getItem(`caesura.draft.ask.${QUESTIONS.id}`)).toBeNull());
  });

  it("is also kept for a refusal and for changed arguments", async () => {
    const first = show(PLAIN);
    await userEvent.click(button("Refuse"));
    await userEvent.type(screen.getByRole("textbox"), "not now");
    first.unmount();
    const second = show(PLAIN);
    expect(screen.getByRole<HTMLTextAreaElement>("textbox").value).toBe("not now");
    await userEvent.click(button("Back"));
    await userEvent.click(button("Edit"));
    await userEvent.type(screen.getAllByRole("textbox")[0] as HTMLElement, " -l");
    second.unmount();
    show(PLAIN);
    expect(screen.getAllByRole<HTMLTextAreaElement>("textbox")[0]?.value).toMatch(/ -l$/);
  });
});

describe("other kinds", () => {
  it("confirm what must be confirmed, and leave out what was left empty", async () => {
    show({
      ...PLAIN,
      kind: "confirmation",
      decisions: ["fields", "reject"],
      fields: [
        { name: "sure", type: "confirm", label: "Sure?", required: true, options: [] },
        { name: "also", type: "confirm", label: "Also?", required: false, options: [] },
        { name: "note", type: "text", label: "Note", required: false, options: [] },
      ],
    });
    await press("Confirm");
    expect(given()).toEqual([]);
    await userEvent.click(screen.getByLabelText(/Sure/));
    await press("Confirm");
    expect(given()).toEqual([["int-1", { decision: "fields", fields: { sure: true } }]]);
  });

  it("have no box to check where only a yes is wanted", async () => {
    const field = { name: "confirm", type: "confirm" as const, label: "Confirm", required: true, options: [] };
    show({ ...PLAIN, kind: "confirmation", name: "", reason: "May I?", fields: [field], decisions: ["fields", "reject"] });
    expect(screen.queryByRole("checkbox")).toBeNull();
    await press("Confirm");
    expect(given()).toEqual([["int-1", { decision: "fields", fields: { confirm: true } }]]);
  });

  it("lead to the field of an own answer that is empty", async () => {
    show({ ...QUESTIONS, questions: QUESTIONS.questions.slice(0, 1) });
    await userEvent.click(screen.getByRole("radio", { name: /^Own answer/ }));
    await press("Send answers");
    expect(document.activeElement).toBe(screen.getByRole("textbox", { name: "Own answer" }));
    expect(given()).toEqual([]);
  });

  it("say what is to be confirmed", async () => {
    // In the conversation the agent's words stand right above it.
    show(CONFIRMATION);
    expect(screen.queryByRole("group", { name: "What is to be confirmed" })).toBeNull();
    cleanup();
    render(<AskForm interrupt={{ ...PLAIN, ...CONFIRMATION }} place="inbox" />);
    expect(screen.getByRole("group", { name: "What is to be confirmed" }).textContent).toBe("I would drop the table `users`. May I?");
    await userEvent.click(button("Refuse"));
    expect(screen.getByRole("group", { name: "What is to be confirmed" }).textContent).toMatch("drop the table");
    cleanup();
    render(<AskForm interrupt={{ ...PLAIN, ...CONFIRMATION, context: "" }} place="inbox" />);
    expect(screen.getByRole("group", { name: "What is to be confirmed" }).textContent).toBe("May I?");
  });
});

describe("an edited argument", () => {
  it("keeps the line breaks that it had", async () => {
    show({ ...PLAIN, args: { command: "one\r\ntwo" } });
    await press("Edit");
    fireEvent.change(screen.getByRole("textbox"), { target: { value: "one\nnew\ntwo" } });
    await press("Approve with changes");
    expect(given()).toEqual([["int-1", { decision: "edit", args: { command: "one\r\nnew\r\ntwo" } }]]);
  });
});

describe("very many arguments", () => {
  it("have one field", async () => {
    const args = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`n${n}`, n]));
    show({ ...PLAIN, name: "deploy", args });
    await press("Edit");
    fireEvent.change(screen.getByRole("textbox", { name: "All arguments" }), { target: { value: '{"n0": 1}' } });
    await press("Approve with changes");
    expect(given()).toEqual([["int-1", { decision: "edit", args: { n0: 1 } }]]);
  });
});

describe("several questions", () => {
  it("tell how one was answered elsewhere", () => {
    show(PLAIN, { ...PLAIN, id: "int-2" }, { ...PLAIN, id: "int-3" }, { ...PLAIN, id: "int-4" });
    act(() => {
      noteClosed("int-1", "answered", "reject");
      noteClosed("int-2", "answered", "approve");
      noteClosed("int-3", "superseded", null);
    });
    const rows = [...document.querySelectorAll(".answered-row")].map((row) => row.lastElementChild?.textContent);
    expect(rows).toEqual(["refused", "Approved", "No longer asked"]);
    const marks = [...document.querySelectorAll(".answered-row path")].map((path) => path.parentElement?.querySelector("circle") !== null);
    expect(marks).toEqual([true, false, true]);
  });

  it("say that an answer is sent until the server has it", async () => {
    let taken: (turn: Turn) => void = () => undefined;
    answer.mockReturnValueOnce(new Promise((resolve) => (taken = resolve)));
    show({ ...PLAIN, id: "s1" }, { ...PLAIN, id: "s2" });
    await press("Approve");
    expect(screen.getByText("Sending")).toBeTruthy();
    expect(screen.queryByText("approved by you")).toBeNull();
    taken({} as Turn);
    await waitFor(() => expect(screen.queryByText("Sending")).toBeNull());
  });

  it("are answered one by one, each in its own way", async () => {
    show(PLAIN, { ...PLAIN, id: "int-2", args: { command: "ls" } });
    expect(screen.getByText("2 things wait for you")).toBeTruthy();
    await press("Approve");
    expect(await screen.findByText("One thing still waits for you")).toBeTruthy();
    await press("Refuse");
    await press("Refuse");
    expect(given()).toEqual([
      ["int-1", { decision: "approve" }],
      ["int-2", { decision: "reject", message: "" }],
    ]);
  });

  it("get the focus one after the other, and after the last one it goes to where the person writes", async () => {
    render(
      <>
        <Ask interrupts={[PLAIN, { ...PLAIN, id: "int-2", args: { command: "ls" } }]} asked={{}} />
        <textarea id="box" />
      </>,
    );
    await press("Approve");
    await waitFor(() => expect(document.activeElement?.getAttribute("data-ask")).toBe("int-2"));
    await press("Approve");
    await waitFor(() => expect(document.activeElement?.id).toBe("box"));
  });
});

describe("the focus after an answer", () => {
  const TWO = [PLAIN, { ...PLAIN, id: "int-2", args: { command: "ls" } }];
  const showWithBox = (interrupts: Interrupt[]) =>
    render(
      <>
        <Ask interrupts={interrupts} asked={{}} />
        <textarea id="box" />
      </>,
    );
  const box = () => document.getElementById("box") as HTMLTextAreaElement;
  const late = () => {
    let end = { taken: (_: Turn): void => undefined, lost: (_: ApiError): void => undefined };
    answer.mockReturnValueOnce(new Promise((taken, lost) => (end = { taken, lost })));
    return { taken: () => end.taken({} as Turn), lost: () => end.lost(new ApiError(503, "unavailable", "")) };
  };
  const moment = () => new Promise((later) => setTimeout(later, 120));

  it("stays where the person writes meanwhile, and what they type there answers nothing", async () => {
    const response = late();
    showWithBox(TWO);
    await press("Approve");
    const person = userEvent.setup();
    await person.click(box());
    await person.keyboard("that is ");
    response.taken();
    expect(await screen.findByText("Approved")).toBeTruthy();
    await moment();
    await ready("Approve");
    await person.keyboard("really all{Control>}{Enter}{/Control}");
    expect(document.activeElement).toBe(box());
    expect(box().value.trim()).toBe("that is really all");
    expect(given()).toHaveLength(1);
  });

  it("stays in another question that the person has gone to", async () => {
    const response = late();
    showWithBox(TWO);
    await press("Approve");
    await userEvent.click(button("Refuse"));
    response.taken();
    await moment();
    expect(document.activeElement).toBe(screen.getByRole("textbox", { name: /^Why/ }));
  });

  it("goes back to the question if the answer was not taken, but not away from where the person writes", async () => {
    const response = late();
    showWithBox([PLAIN]);
    await press("Approve");
    response.lost();
    await waitFor(() => expect(document.activeElement?.getAttribute("data-ask")).toBe("int-1"));
    const other = late();
    await press("Approve");
    await userEvent.click(box());
    other.lost();
    await moment();
    expect(document.activeElement).toBe(box());
  });

  it("is not taken by the next question because something was typed into it before", async () => {
    storeDraft("ask.int-2", JSON.stringify({ mode: "refuse", reason: "not now" }));
    const response = late();
    showWithBox(TWO);
    await press("Approve");
    await userEvent.click(box());
    expect(screen.getByDisplayValue("not now")).toBeTruthy();
    expect(document.activeElement).toBe(box());
    response.taken();
    await moment();
    expect(document.activeElement).toBe(box());
  });
});

describe("the first moment of a question", () => {
  it("takes no click, and a double click counts once", async () => {
    show(PLAIN);
    fireEvent.click(button("Approve"), { detail: 1 });
    expect(given()).toEqual([]);
    await ready("Approve");
    fireEvent.click(button("Approve"), { detail: 2 });
    expect(given()).toEqual([]);
    fireEvent.click(button("Approve"), { detail: 1 });
    expect(given()).toHaveLength(1);
  });

  it("begins again when another question is unfolded in its place", async () => {
    show(PLAIN, { ...PLAIN, id: "int-2", args: { command: "curl | sh" } });
    await press("Approve");
    expect(await screen.findByText("One thing still waits for you")).toBeTruthy();
    fireEvent.click(button("Approve"), { detail: 1 });
    expect(given()).toHaveLength(1);
    await press("Approve");
    expect(given()).toHaveLength(2);
  });

  it("begins again when the question has moved", async () => {
    const place = vi.spyOn(Element.prototype, "getBoundingClientRect").mockReturnValue({ top: 100, bottom: 130, left: 0 } as DOMRect);
    show(PLAIN);
    await ready("Approve");
    place.mockReturnValue({ top: 60, bottom: 90, left: 0 } as DOMRect);
    fireEvent.click(button("Approve"), { detail: 1 });
    expect(given()).toEqual([]);
    await pressUntilGiven("Approve");
  });

  const ENTER: [string, () => unknown][] = [
    ["the window gets the focus", () => fireEvent(window, new Event("focus"))],
    ["the page is shown again", () => fireEvent(window, new Event("pageshow"))],
    ["the tab is seen again", () => fireEvent(document, new Event("visibilitychange"))],
  ];

  it.each(ENTER)("begins again when %s, for clicks and for keys", async (_, enter) => {
    show(PLAIN);
    await ready("Approve");
    enter();
    // What a person does who meant a window that lay over the page.
    fireEvent.pointerDown(button("Approve"));
    fireEvent.click(button("Approve"), { detail: 1 });
    enter();
    fireEvent.keyDown(screen.getByRole("group", { name: "Run a command?" }), { key: "Enter", ctrlKey: true });
    expect(given()).toEqual([]);
    await pressUntilGiven("Approve");
    expect(given()).toEqual([["int-1", { decision: "approve" }]]);
  });

  it("loses nothing that is typed while the window gets the focus", async () => {
    show(PLAIN);
    await press("Refuse");
    const person = userEvent.setup();
    await person.type(screen.getByRole("textbox"), "not");
    fireEvent(window, new Event("focus"));
    await person.type(screen.getByRole("textbox"), " now");
    await pressUntilGiven("Refuse");
    expect(given()).toEqual([["int-1", { decision: "reject", message: "not now" }]]);
  });

  it("asks who pressed too soon to press again, and says so no longer after a while", async () => {
    show(PLAIN);
    fireEvent.click(button("Approve"), { detail: 1 });
    expect(screen.getByText("That came too soon. Please press again.")).toBeTruthy();
    expect(useAnnouncement.getState().text).toContain("Please press again");
    await waitFor(() => expect(screen.queryByText(/^That came too soon/)).toBeNull(), { timeout: 10_000 });
  });

  it("does not end while the question cannot be seen", async () => {
    const place = vi.spyOn(Element.prototype, "getBoundingClientRect").mockReturnValue({ top: 9000, bottom: 9030, left: 0 } as DOMRect);
    show(PLAIN);
    await new Promise((later) => setTimeout(later, 300));
    expect(button("Approve").getAttribute("aria-disabled")).toBe("true");
    place.mockReturnValue({ top: 100, bottom: 130, left: 0 } as DOMRect);
    await ready("Approve");
  });
});

describe("a long command", () => {
  it("is approved after it was read to its end", async () => {
    heights(900, 300);
    show({ ...PLAIN, args: { command: `ls${"\nls".repeat(60)}\ncurl | sh` } });
    expect(screen.getByText("62 lines · 192 characters")).toBeTruthy();
    expect(screen.getByText("More below")).toBeTruthy();
    await ready("Refuse");
    fireEvent.click(button("Approve"), { detail: 1 });
    expect(given()).toEqual([]);
    expect(screen.getByText("Read it to its end first.")).toBeTruthy();
    const text = document.querySelector(".cmd .text") as HTMLElement;
    text.scrollTop = 600;
    fireEvent.scroll(text);
    await press("Approve");
    expect(given()).toHaveLength(1);
  });

  it("can be shown as a whole", async () => {
    heights(900, 300);
    show({ ...PLAIN, name: "deploy", args: { target: "x".repeat(4000) } });
    expect(button("Approve").hasAttribute("data-blocked")).toBe(true);
    heights(900, 900);
    await userEvent.click(screen.getByRole("button", { name: "Show all of it" }));
    await waitFor(() => expect(button("Approve").hasAttribute("data-blocked")).toBe(false));
  });

  it("cannot be approved unread by way of editing it", async () => {
    heights(900, 300);
    show({ ...PLAIN, args: { command: "echo ok\n".repeat(200) } });
    await press("Edit");
    const area = screen.getByLabelText(/^command/);
    fireEvent.change(area, { target: { value: "echo no\n".repeat(200) } });
    await ready("Back");
    fireEvent.click(button("Approve with changes"), { detail: 1 });
    expect(given()).toEqual([]);
    area.scrollTop = 600;
    fireEvent.scroll(area);
    await press("Approve with changes");
    expect(given()).toHaveLength(1);
  });

  it("that was read before need not be read again where it is edited", async () => {
    heights(900, 300);
    show({ ...PLAIN, args: { command: "echo ok\n".repeat(200) } });
    const text = document.querySelector(".cmd .text") as HTMLElement;
    text.scrollTop = 600;
    fireEvent.scroll(text);
    await press("Edit");
    await press("Approve with changes");
    expect(given()).toHaveLength(1);
  });

  it("that no field can hold is not edited, also not after a reload", async () => {
    storeDraft("ask.int-1", JSON.stringify({ mode: "edit" }));
    show({ ...PLAIN, args: { command: `ls a${"\u0301".repeat(20_000)}` } });
    expect(document.querySelector("textarea")).toBeNull();
    expect(screen.queryByRole("button", { name: "Edit" })).toBeNull();
    expect(screen.getByText(/cannot be edited here/)).toBeTruthy();
    await press("Answer instead");
    expect(screen.getByRole("textbox").textContent).toBe("");
  });

  it("with a million hidden characters is a few thousand elements, and can be refused", async () => {
    show({ ...PLAIN, args: { command: "a\x7f".repeat(500_000) } });
    expect(document.querySelectorAll("*").length).toBeLessThan(4000);
    expect(document.querySelector(".unmarked")?.textContent).toContain("24,000 more hidden characters");
    expect(button("Approve").hasAttribute("data-blocked")).toBe(true);
    await press("Refuse");
    await press("Refuse");
    expect(given()).toEqual([["int-1", { decision: "reject", message: "" }]]);
  });

  it("hides nothing behind empty lines", () => {
    show({ ...PLAIN, args: { command: `ls -l docs${"\n".repeat(60)}curl | sh\n\nls` } });
    expect(document.querySelector(".cmd .text")?.textContent).toBe("ls -l docs59 empty linescurl | sh\n\nls");
  });
});

describe("a file", () => {
  const FILE = { ...PLAIN, name: "write_file", args: { path: "a.sh", content: "echo ok\n".repeat(60) }, file: { exists: false, content: null, digest: null } as unknown as Interrupt["file"] };

  it("is approved after the difference was scrolled to its end, whatever is folded beside it", async () => {
    heights(900, 300);
    show(FILE);
    await waitFor(() => expect(document.querySelector(".lines")).toBeTruthy());
    await ready("Refuse");
    fireEvent.click(button("Approve"), { detail: 1 });
    expect(given()).toEqual([]);
    const lines = document.querySelector(".lines") as HTMLElement;
    lines.scrollTop = 600;
    fireEvent.scroll(lines);
    expect(document.querySelector("details.fold-args pre")).toBeNull();
    await press("Approve");
    expect(given()).toHaveLength(1);
  });

  it("does not fold away an argument that is shown nowhere else", async () => {
    show({ ...FILE, args: { ...FILE.args, mode: "0777" } });
    await waitFor(() => expect(document.querySelector(".lines")).toBeTruthy());
    expect(document.querySelector("details.fold-args")).toBeNull();
    expect(document.querySelector("pre.full")?.textContent).toContain("0777");
  });
});

describe("an option", () => {
  it("shows what it sends, if its label says something else", () => {
    const options = [
      { label: "No, keep it", value: "Yes, delete it", allow_custom: false },
      { label: "Later", value: "later", allow_custom: false },
    ];
    show({ ...QUESTIONS, questions: [{ question: "Delete?", options }] });
    expect(document.querySelector(".sends")?.textContent).toBe("The agent reads: Yes, delete it");
    expect(screen.queryByText(/reads: later/)).toBeNull();
  });

  it("shows nothing more where only what joins its words differs, and all where a sign may mean something", () => {
    const option = (label: string, value: string) => ({ label, value, allow_custom: false });
    show({ ...QUESTIONS, questions: [{ question: "When?", options: [option("After review", "after_review"), option("1", "-1"), option("At once", "now")] }] });
    expect([...document.querySelectorAll(".sends")].map((item) => item.textContent)).toEqual(["The agent reads: -1", "The agent reads: now"]);
  });
});

describe("a question that was answered elsewhere", () => {
  it("says that a choice was not sent only if there was one", async () => {
    show(QUESTIONS);
    act(() => void noteClosed("int-1", "answered", "reject"));
    expect(screen.getByText("Already answered elsewhere: refused")).toBeTruthy();
    expect(screen.queryByText(/was not sent/)).toBeNull();
    cleanup();
    show({ ...QUESTIONS, id: "int-2" });
    await userEvent.click(screen.getByLabelText(/^Two/));
    act(() => void noteClosed("int-2", "answered", "answers"));
    expect(screen.getByText(/was not sent/)).toBeTruthy();
  });
});
