// @vitest-environment jsdom
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import type { Artifact } from "../../api/types";
import { Documents, type DocumentsProps } from "./Documents";

const artifact = (id: string, content_type: string, version: number): Artifact => ({ id, title: `Title of ${id}`, content_type, version, created_at: 0, updated_at: 0 });
const texts: Record<string, string[]> = {
  report: ["# One\n\nsame\n", "# One\n\nsame\n\nmore **words**\n", "# Three\n\nsame\n\nmore **words**\n"],
  table: ["a,b\n1,2\n"],
  page: ["<script>parent.hacked = 1</script><p>hello</p>"],
  data: ['{"a":[1,2]}'],
  bad: ["{no json"],
  program: ["one = 1\n\nprint(one)"],
};
const versions = vi.fn();
const content = vi.fn();
const draft = vi.fn();
const onDraft = vi.fn();
const onSave = vi.fn();

beforeEach(() => {
  vi.stubGlobal("matchMedia", () => ({ matches: false }));
  versions.mockImplementation((id: string) => Promise.resolve(texts[id]!.map((_, index) => ({ version: index + 1, update_type: index === 0 ? "create" : "update", turn_id: null, created_at: index * 60_000 }))));
  content.mockImplementation((id: string, version: number) => Promise.resolve(texts[id]![version - 1]));
  draft.mockReturnValue(null);
  onDraft.mockReset();
  onSave.mockReset();
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

/** Does it, and waits until everything that it led to is drawn. */
const settle = (what: () => unknown = () => null) =>
  act(() => {
    what();
    return Promise.resolve();
  });

const all = [artifact("report", "markdown", 3), artifact("table", "csv", 1), artifact("page", "html", 1), artifact("data", "json", 1), artifact("bad", "json", 1), artifact("program", "code", 1)];

async function show(selected: string, more: Partial<DocumentsProps> = {}) {
  const props: DocumentsProps = { artifacts: all, selected, revision: 0, live: null, quiet: false, versions, content, draft, onDraft, onSave, onSelect: vi.fn(), onClose: vi.fn(), ...more };
  const made = render(<Documents {...props} />);
  await settle();
  return { ...made, props, again: async (changed: Partial<DocumentsProps>) => {
    made.rerender(<Documents {...props} {...changed} />);
    await settle();
  } };
}

const radio = (name: RegExp) => screen.getByRole("radio", { name });

test("the newest version is shown, and any other can be chosen by mouse and by key", async () => {
  const { container } = await show("report");
  expect(container.querySelector(".prose h2")?.textContent).toBe("Three");
  expect(radio(/v3/).getAttribute("aria-checked")).toBe("true");
  await settle(() => fireEvent.click(radio(/v1/)));
  expect(container.querySelector(".prose")?.textContent).not.toContain("more words");
  await settle(() => fireEvent.keyDown(radio(/v1/), { key: "ArrowRight" }));
  expect(radio(/v2/).getAttribute("aria-checked")).toBe("true");
  expect(container.querySelector(".prose")?.textContent).toContain("more words");
});

test("the changes of any two versions are shown side by side or inline", async () => {
  const { container } = await show("report");
  await settle(() => fireEvent.click(screen.getByRole("tab", { name: "Changes" })));
  expect(container.querySelector(".pair .hd")?.textContent).toContain("v2");
  expect(container.querySelectorAll(".ln.add")).toHaveLength(1);
  await settle(() => fireEvent.change(screen.getByLabelText("Compare"), { target: { value: "1" } }));
  expect(container.querySelectorAll(".ln.add")).toHaveLength(3);
  await settle(() => fireEvent.click(screen.getByRole("button", { name: "Inline" })));
  expect(container.querySelector(".one .ln.del")?.textContent).toContain("# One");
});

test("a version that comes is followed, unless an older one was chosen", async () => {
  const { container, again } = await show("report");
  texts.report!.push("# Four\n");
  await again({ revision: 1 });
  expect(container.querySelector(".prose h2")?.textContent).toBe("Four");
  await settle(() => fireEvent.click(radio(/v1/)));
  texts.report!.push("# Five\n");
  await again({ revision: 2 });
  expect(container.querySelector(".prose h2")?.textContent).toBe("One");
  texts.report!.length = 3;
});

test("what is being written stands at the end of the line and grows", async () => {
  const { container, again } = await show("report", { live: { id: "report", title: null, type: null, content: "# Next\n\nwor", updates: [] } });
  expect(container.querySelector(".track .writing")?.textContent).toContain("v4");
  expect(container.querySelector(".prose .caret")).not.toBeNull();
  expect(screen.getByRole<HTMLInputElement>("checkbox", { name: "Follow" }).checked).toBe(true);
  await again({ live: null });
  expect(container.querySelector(".caret")).toBeNull();
});

test("a document that is new has its title and its type before its first version, and asks for none", async () => {
  versions.mockClear();
  const live = { id: "fresh", title: "A fresh one", type: "markdown", content: "# Fresh\n\nwor", updates: [] };
  const { container, again } = await show("fresh", { live });
  expect(screen.getByRole("heading", { name: "A fresh one" })).toBeTruthy();
  expect(container.querySelector(".prose")?.textContent).toContain("wor");
  await again({ live: { ...live, content: "# Fresh\n\nwords", updates: [] } });
  expect(container.querySelector(".prose")?.textContent).toContain("words");
  expect(radio(/v1/).getAttribute("aria-checked")).toBe("true");
  expect(versions).not.toHaveBeenCalled();
});

test("what was written stays until the stored version has been loaded", async () => {
  const { container, again } = await show("report", { live: { id: "report", title: null, type: null, content: "# Four\n\nwritten", updates: [] } });
  let arrive: (text: string) => void = () => undefined;
  content.mockImplementation((_: string, version: number) => (version === 4 ? new Promise((resolve) => (arrive = resolve)) : Promise.resolve("# old")));
  await again({ live: null, artifacts: [artifact("report", "markdown", 4)], revision: 1 });
  expect(container.querySelector(".prose")?.textContent).toContain("written");
  await settle(() => arrive("# Four\n\nstored"));
  expect(container.querySelector(".prose")?.textContent).toContain("stored");
});

describe("a part of a document that is replaced", () => {
  const live = (update: { old: string; whole: boolean; new: string | null }) => ({ id: "report", title: null, type: null, content: null, updates: [update] });

  test("is marked in its place, and the new words appear beside it", async () => {
    const { container, again } = await show("report", { live: live({ old: "sa", whole: false, new: null }) });
    expect(container.querySelector(".revised del")?.textContent).toBe("sa");
    await again({ live: live({ old: "same", whole: true, new: "oth" }) });
    expect(container.querySelector(".revised")?.textContent).toBe("# Three\n\nsameoth\n\nmore **words**\n");
    expect(container.querySelector(".revised ins")?.textContent).toBe("oth");
    await settle(() => fireEvent.click(screen.getByRole("tab", { name: "Changes" })));
    expect(container.querySelector(".ln.add")?.textContent).toContain("oth");
    await settle(() => fireEvent.click(screen.getByRole("tab", { name: "Preview" })));
    content.mockImplementation(() => Promise.resolve("# Three\n\nother\n"));
    await again({ live: null, artifacts: [artifact("report", "markdown", 4)], revision: 1 });
    expect(container.querySelector(".revised")).toBeNull();
    expect(container.querySelector(".prose")?.textContent).toContain("other");
  });

  test("is shown apart while its place is not known", async () => {
    const { container } = await show("report", { live: live({ old: "nowhere", whole: true, new: "here" }) });
    expect(container.querySelector(".revised.apart del")?.textContent).toBe("nowhere");
    expect(container.querySelector(".as-is:not(.revised)")?.textContent).toBe(texts.report![2]);
  });
});

/** The person wants to see the page, and then that its scripts run. */
const runScripts = () => {
  fireEvent.click(screen.getByRole("button", { name: "Show preview" }));
  fireEvent.click(screen.getByRole("button", { name: "Run scripts" }));
};

test("an agent's page is offered first, then shown without its scripts, and they run after a choice", async () => {
  const { container } = await show("page");
  expect(container.querySelector("iframe")).toBeNull();
  expect(container.querySelector("code")).toBeNull();
  fireEvent.click(screen.getByRole("button", { name: "Show preview" }));
  expect(container.querySelector("iframe")?.getAttribute("src")).toBe("/frames/still.html");
  expect(container.querySelector(".offer")?.textContent).toContain("to other servers");
  fireEvent.click(screen.getByRole("button", { name: "Run scripts" }));
  const frame = container.querySelector("iframe");
  expect(frame?.getAttribute("sandbox")).toBe("allow-scripts");
  expect(frame?.getAttribute("src")).toBe("/frames/document.html");
  expect(frame?.hasAttribute("srcdoc")).toBe(false);
  expect(container.innerHTML).not.toContain("hacked");
  expect(screen.getByRole("status").textContent).toContain("The scripts of this document run.");
  fireEvent.click(screen.getByRole("button", { name: "Stop scripts" }));
  expect(container.querySelector("iframe")?.getAttribute("src")).toBe("/frames/still.html");
});

test("a page that floods the page around it with messages is stopped at once", async () => {
  const { container } = await show("page");
  runScripts();
  const inside = container.querySelector("iframe")?.contentWindow ?? null;
  const send = () => window.dispatchEvent(new MessageEvent("message", { data: "x", source: inside }));
  for (let n = 0; n < 20; n += 1) send();
  expect(container.querySelector("iframe")).not.toBeNull();
  for (let n = 0; n < 300; n += 1) send();
  expect(container.querySelector("iframe")).toBeNull();
  expect(screen.getByRole("alert").textContent).toContain("too many messages");
});

test("a long line of letters in both directions is drawn in short nodes and in one order", async () => {
  const line = "אa ".repeat(90_000);
  texts.long = [line];
  const { container } = await show("long", { artifacts: [artifact("long", "text", 1)] });
  const drawn = container.querySelector(".as-is > .exact")!;
  expect(drawn.textContent).toBe(line.slice(0, 200_000));
  expect(Math.max(...[...drawn.childNodes].map((node) => node.textContent!.length))).toBeLessThanOrEqual(500);
  fireEvent.click(screen.getByRole("button", { name: /70,000/ }));
  expect(container.querySelector(".as-is")?.textContent).toBe(line);
});

test("a long cell is drawn in steps, and many of them in few rows", async () => {
  const cell = "אa ".repeat(90_000);
  const cells = `a,b\n"${cell}",1\n${`${"x".repeat(400)}\n`.repeat(3000)}`;
  texts.cells = [cells];
  const { container } = await show("cells", { artifacts: [artifact("cells", "csv", 1)] });
  const first = container.querySelector("td")!;
  expect(first.querySelector(".long-cell")?.textContent).toMatch(/^(אa ){60}/);
  expect(first.textContent.length).toBeLessThan(300);
  fireEvent.click(first.querySelector("[data-more]")!);
  expect(first.textContent.length).toBeGreaterThan(790);
  const rows = container.querySelectorAll("tbody tr").length;
  expect(rows).toBeLessThanOrEqual(200);
  expect(container.textContent).toContain(`${rows} of 3,001`);
});

test("messages of a frame inside a page count as those of the page", async () => {
  const { container } = await show("page");
  runScripts();
  // A frame that the page did not make. One that is gone has no window.
  for (let n = 0; n < 300; n += 1) window.dispatchEvent(new MessageEvent("message", { data: "x", source: null }));
  expect(container.querySelector("iframe")).toBeNull();
  expect(screen.getByRole("alert").textContent).toContain("too many messages");
});

test("each port that a page sends counts as a message", async () => {
  const { container } = await show("page");
  runScripts();
  const inside = container.querySelector("iframe")?.contentWindow ?? null;
  const send = (ports: number) =>
    window.dispatchEvent(Object.defineProperty(new MessageEvent("message", { data: "x", source: inside }), "ports", { value: Array.from({ length: ports }) }));
  send(0);
  send(50);
  expect(container.querySelector("iframe")).not.toBeNull();
  send(5000);
  expect(container.querySelector("iframe")).toBeNull();
});

test("messages of the page itself, and of its other frames, do not stop a page of an agent", async () => {
  const { container } = await show("page");
  const other = document.body.appendChild(document.createElement("iframe"));
  runScripts();
  for (const source of [window, other.contentWindow])
    for (let n = 0; n < 300; n += 1) window.dispatchEvent(new MessageEvent("message", { data: "x", source }));
  expect(container.querySelector("iframe")).not.toBeNull();
  other.remove();
});

test("no page of an agent runs beside a dialog", async () => {
  const { container, again } = await show("page");
  runScripts();
  await again({ quiet: true });
  expect(container.querySelector("iframe")).toBeNull();
  await again({ quiet: false });
  expect(container.querySelector("iframe")).not.toBeNull();
});

test("a page that takes the focus after the person has left it is stopped", async () => {
  const { container } = await show("page");
  const field = document.body.appendChild(document.createElement("input"));
  runScripts();
  expect(document.activeElement).toBe(container.querySelector("iframe"));
  field.focus();
  container.querySelector("iframe")?.focus();
  fireEvent.blur(window);
  expect(document.activeElement).toBe(field);
  expect(container.querySelector("iframe")).toBeNull();
  expect(screen.getByRole("alert").textContent).toContain("The preview was stopped");
  fireEvent.click(screen.getByRole("button", { name: "Show again" }));
  expect(container.querySelector("iframe")).not.toBeNull();
  field.remove();
});

test("a page that was clicked into keeps the focus until the person leaves it", async () => {
  const { container } = await show("page");
  const field = document.body.appendChild(document.createElement("input"));
  runScripts();
  await settle(() => field.focus());
  fireEvent.click(screen.getByRole("button", { name: "Click to use the document" }));
  const frame = container.querySelector("iframe");
  fireEvent.blur(window);
  expect(document.activeElement).toBe(frame);
  await settle(() => field.focus());
  expect(screen.getByRole("button", { name: "Click to use the document" })).toBeTruthy();
  frame?.focus();
  fireEvent.blur(window);
  expect(document.activeElement).toBe(field);
  field.remove();
});

test("values are a table, and JSON is indented unless it is none", async () => {
  const table = await show("table");
  expect([...table.container.querySelectorAll("td")].map((cell) => cell.textContent)).toEqual(["1", "2"]);
  cleanup();
  const data = await show("data");
  expect(data.container.querySelector("code")?.textContent).toBe('{\n  "a": [\n    1,\n    2\n  ]\n}');
  cleanup();
  const bad = await show("bad");
  expect(bad.container.textContent).toContain("This is not valid JSON.");
  expect(bad.container.querySelector("code")?.textContent).toBe("{no json");
});

test("a wide table is drawn in steps of a few thousand cells, and letters with many marks are cut", async () => {
  content.mockResolvedValue(`a${"\u0301".repeat(500)},${"1,".repeat(198)}1\n${`${"1,".repeat(199)}1\n`.repeat(300)}`);
  const { container } = await show("table");
  expect(container.querySelectorAll("td")).toHaveLength(5000);
  expect(container.querySelector("th")?.textContent).toBe(`a${"\u0301".repeat(32)}\\u0301×468`);
  fireEvent.click(screen.getByRole("button", { name: "Show more" }));
  expect(container.querySelectorAll("td")).toHaveLength(30_000);
});

test("without a document the list is shown", async () => {
  const onSelect = vi.fn();
  await show("", { onSelect });
  fireEvent.click(screen.getByRole("button", { name: /Title of table/ }));
  expect(onSelect).toHaveBeenCalledWith("table");
});

test("a version that cannot be loaded is told", async () => {
  content.mockRejectedValue(new Error("away"));
  const { container } = await show("report");
  expect(container.textContent).toContain("This could not be loaded.");
});

describe("a person edits a document", () => {
  const field = () => screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Text of Title of report" });
  const begin = async (more: Partial<DocumentsProps> = {}) => {
    const made = await show("report", more);
    await settle(() => fireEvent.click(screen.getByRole("button", { name: /^Edit/ })));
    return made;
  };
  const type = (value: string) => fireEvent.change(field(), { target: { value } });

  test("and saves it as a version of its own, which says who wrote it", async () => {
    onSave.mockResolvedValue("saved");
    await begin();
    expect(document.activeElement).toBe(field());
    expect(screen.getByRole("button", { name: "Save as v4" }).hasAttribute("disabled")).toBe(true);
    type("mine");
    expect(onDraft).toHaveBeenLastCalledWith("report", { text: "mine", base: 3 });
    await settle(() => fireEvent.keyDown(field(), { key: "Enter", ctrlKey: true }));
    expect(onSave).toHaveBeenCalledExactlyOnceWith("report", { text: "mine", base: 3 });
    expect(screen.queryByRole("textbox")).toBeNull();
    expect(radio(/v1/).textContent).toContain("by you");
  });

  test("and is told that it is an older one, which they may bring back as it is", async () => {
    onSave.mockResolvedValue("saved");
    await show("report");
    await settle(() => fireEvent.click(radio(/v1/)));
    await settle(() => fireEvent.click(screen.getByRole("button", { name: /^Edit/ })));
    expect(screen.getByText(/You edit version 1. Version 3 is newer/)).toBeTruthy();
    await settle(() => fireEvent.click(screen.getByRole("button", { name: "Save as v4" })));
    expect(onSave).toHaveBeenCalledExactlyOnceWith("report", { text: texts.report![0], base: 3 });
  });

  test("and agents' versions are not called theirs", async () => {
    versions.mockResolvedValue([{ version: 1, update_type: "create", turn_id: "turn-1", created_at: 0 }, { version: 2, update_type: "rewrite", turn_id: null, created_at: 1 }]);
    await show("report");
    expect([radio(/v1/).textContent, radio(/v2/).textContent].map((text) => text?.includes("by you"))).toEqual([false, true]);
  });

  test("leaves it, and finds the draft again", async () => {
    const { again, props } = await begin();
    type("half");
    const key = new KeyboardEvent("keydown", { key: "Escape", bubbles: true, cancelable: true });
    await settle(() => field().dispatchEvent(key));
    // Nobody else closes something with the same key.
    expect(key.defaultPrevented).toBe(true);
    expect(onSave).not.toHaveBeenCalled();
    expect(props.onClose).not.toHaveBeenCalled();
    expect(screen.queryByRole("textbox")).toBeNull();
    draft.mockReturnValue({ text: "half", base: 3 });
    await again({});
    await settle(() => fireEvent.click(screen.getByRole("button", { name: "Edit (draft kept)" })));
    expect(field().value).toBe("half");
    await settle(() => fireEvent.click(screen.getByRole("button", { name: "Discard draft" })));
    expect(onDraft).toHaveBeenLastCalledWith("report", null);
  });

  test("is told that a newer version came, sees what changed, and saves after it only on purpose", async () => {
    onSave.mockResolvedValue("saved");
    const { again } = await begin();
    type("mine");
    texts.report!.push("# Four\n");
    await again({ revision: 1 });
    texts.report!.length = 3;
    expect(screen.getByText(/Version 4 came while you wrote. When you began, version 3 was the newest/)).toBeTruthy();
    expect(field().value).toBe("mine");
    await settle(() => fireEvent.keyDown(field(), { key: "s", ctrlKey: true }));
    expect(onSave).not.toHaveBeenCalled();
    await settle(() => fireEvent.click(screen.getByRole("button", { name: "Save mine as v5" })));
    expect(onSave).toHaveBeenCalledExactlyOnceWith("report", { text: "mine", base: 4 });
  });

  test("is told so by the server, too, and loses nothing", async () => {
    onSave.mockResolvedValue("outdated");
    await begin();
    type("mine");
    await settle(() => fireEvent.click(screen.getByRole("button", { name: "Save as v4" })));
    expect(screen.getByText(/came while you wrote/)).toBeTruthy();
    expect(field().value).toBe("mine");
    await settle(() => fireEvent.click(screen.getByRole("button", { name: "See what changed" })));
    expect(screen.getByRole("tab", { name: "Changes" }).getAttribute("aria-selected")).toBe("true");
  });

  test("is told why it was not saved, and can try again", async () => {
    onSave.mockRejectedValue(new Error("The share is used up."));
    await begin();
    type("mine");
    await settle(() => fireEvent.click(screen.getByRole("button", { name: "Save as v4" })));
    expect(screen.getByText("The share is used up.")).toBeTruthy();
    expect(screen.getByRole("button", { name: "Save as v4" }).hasAttribute("disabled")).toBe(false);
  });

  test("and the line breaks of the document stay as they are", async () => {
    content.mockResolvedValue("a\r\nb\r\n");
    await begin();
    type("a\nc\n");
    expect(onDraft).toHaveBeenLastCalledWith("report", { text: "a\r\nc\r\n", base: 3 });
  });
});

test("the lines of code and of a source have numbers, which are no part of the text", async () => {
  const { container } = await show("program");
  const lines = () => [...container.querySelectorAll(".code.numbered .line")].map((line) => line.textContent);
  expect(lines()).toEqual(["one = 1\n", "\n", "print(one)"]);
  cleanup();
  const report = await show("report");
  expect(report.container.querySelector(".numbered")).toBeNull();
  await settle(() => fireEvent.click(screen.getByRole("tab", { name: "Source" })));
  expect(report.container.querySelectorAll(".code.numbered .line")).toHaveLength(6);
});
