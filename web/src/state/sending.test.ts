// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import * as api from "../api/calls";
import { ApiError } from "../api/client";
import type { Conversation, Turn } from "../api/types";
import { EMPTY } from "../log/turn";
import { useAgents } from "./agents";
import { regenerate, send, sendInstead } from "./doing";
import { keepDocumentDraft } from "./documents";
import { claimTab, draftOf, followLeaving, forgetDrafts, rescue, setDraft, storeAll, useAway, useDrafts, useUnstored } from "./drafts";
import { keep } from "./kept";
import { reload } from "./opening";
import { followOthers } from "./others";
import { go } from "./route";
import { isBegun, keepInstead, writtenInstead } from "./sent";
import { NONE, useThread, type Entry } from "./thread";
import { editTurn, useView } from "./view";

vi.mock("../api/calls");
vi.mock("./opening");
const post = vi.mocked(api.send);

const LOST = new ApiError(0, "unreachable", "");
const entry = (id: string, parent: string | null, content: string, status: Entry["log"]["status"] = "done"): Entry => ({
  turn: { id, parent_id: parent, content, conversation_id: "A", siblings: [id] } as unknown as Entry["turn"],
  log: { ...EMPTY, status },
});
const turn = (id: string, parent: string | null, content: string) => ({ id, parent_id: parent, content, status: "queued" }) as Turn;
const box = (id: string | null) => draftOf(useDrafts.getState(), id);
const openThread = (id: string | null, entries: Entry[] = []): void => useThread.setState({ ...NONE, id, phase: id ? "ready" : "none", entries }, true);
/** The page is loaded anew: only what the browser has stored is left. */
const loadAnew = (): void => {
  useDrafts.setState({}, true);
  useAway.setState({}, true);
};

/** A request that is answered when the test says so. */
function held<T>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (error: unknown) => void } {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

async function write(id: string | null, text: string): Promise<boolean> {
  setDraft(id, text);
  return send(id, text);
}

let end: () => void;
beforeEach(() => {
  forgetDrafts();
  go("/c/A");
  openThread("A", [entry("t1", null, "one")]);
  post.mockReset();
  vi.mocked(reload).mockReset();
  vi.mocked(api.createConversation).mockResolvedValue({ id: "C", title: "" } as Conversation);
  end = followOthers();
});
afterEach(() => {
  end();
  vi.unstubAllGlobals();
});

describe("a message goes to the conversation in whose box it was written", () => {
  it("a new one, while another one is still on its way", async () => {
    const first = held<Turn>();
    post.mockReturnValueOnce(first.promise);
    const sent = write("A", "for A");
    go("/");
    openThread(null);
    post.mockResolvedValueOnce(turn("c1", null, "for a new one"));
    await write(null, "for a new one");
    expect(post.mock.calls.map(([id, body]) => [id, body.content])).toEqual([["A", "for A"], ["C", "for a new one"]]);
    expect(useThread.getState().id).toBe("C");
    first.resolve(turn("t2", "t1", "for A"));
    await sent;
    expect(useThread.getState().entries.map((item) => item.turn.id)).toEqual(["c1"]);
  });

  it("even if the open conversation is another one", async () => {
    post.mockResolvedValueOnce(turn("b1", null, "for B"));
    await write("B", "for B");
    expect(post.mock.calls[0]?.[0]).toBe("B");
    expect(useThread.getState().entries.map((item) => item.turn.id)).toEqual(["t1"]);
  });

  it("a person who has left is not taken to the new conversation", async () => {
    const made = held<Conversation>();
    vi.mocked(api.createConversation).mockReturnValueOnce(made.promise);
    go("/");
    openThread(null);
    post.mockRejectedValueOnce(LOST);
    const sent = write(null, "a beginning");
    go("/c/B");
    openThread("B");
    made.resolve({ id: "C", title: "" } as Conversation);
    expect(await sent).toBe(false);
    expect(location.pathname).toBe("/c/B");
    expect(useThread.getState()).toMatchObject({ id: "B", fault: null, sending: null });
    expect([box("B"), box("C"), box(null)]).toEqual(["", "a beginning", ""]);
  });

  it("a conversation whose response was lost is not made twice, also not after a reload", async () => {
    go("/");
    openThread(null);
    useAgents.setState({ chosen: "writer" });
    const create = vi.mocked(api.createConversation);
    create.mockReset();
    create.mockRejectedValueOnce(LOST).mockResolvedValueOnce({ id: "C", title: "" } as Conversation);
    post.mockResolvedValueOnce(turn("c1", null, "a beginning"));
    expect(await write(null, "a beginning")).toBe(false);
    loadAnew();
    useAgents.setState({ chosen: null });
    expect(await write(null, "a beginning")).toBe(true);
    const [first, second] = create.mock.calls;
    expect(first?.[0]).toBe("writer");
    expect(second).toEqual(first);
  });

  it("what is typed while a conversation is made goes along", async () => {
    const made = held<Conversation>();
    vi.mocked(api.createConversation).mockReturnValueOnce(made.promise);
    go("/");
    openThread(null);
    post.mockResolvedValueOnce(turn("c1", null, "a beginning"));
    const sent = write(null, "a beginning");
    setDraft(null, "and more");
    made.resolve({ id: "C", title: "" } as Conversation);
    await sent;
    expect([box("C"), box(null)]).toEqual(["and more", ""]);
  });
});

describe("a message that could not be sent", () => {
  it("returns to its own box, and only its own conversation tells", async () => {
    setDraft("B", "draft of B");
    const request = held<Turn>();
    post.mockReturnValueOnce(request.promise);
    const sent = write("A", "for A");
    openThread("B");
    request.reject(LOST);
    expect(await sent).toBe(false);
    expect([box("A"), box("B")]).toEqual(["for A", "draft of B"]);
    expect(useThread.getState()).toMatchObject({ id: "B", fault: null, sending: null });
  });

  it("stands before what was typed meanwhile", async () => {
    const request = held<Turn>();
    post.mockReturnValueOnce(request.promise);
    const sent = write("A", "first");
    expect(box("A")).toBe("");
    setDraft("A", "second");
    request.reject(LOST);
    await sent;
    expect(box("A")).toBe("first\n\nsecond");
  });

  it("is shown to nobody after its person has signed out", async () => {
    const request = held<Turn>();
    post.mockReturnValueOnce(request.promise);
    const sent = write("A", "a secret");
    forgetDrafts();
    request.reject(LOST);
    await sent;
    expect(box("A")).toBe("");
    expect(JSON.stringify({ ...localStorage, ...sessionStorage })).not.toContain("a secret");
  });

  it("keeps what was written in place of another message", async () => {
    const said = entry("t1", null, "one");
    for (const error of [LOST, new ApiError(400, "bad_input", "no")]) {
      post.mockRejectedValueOnce(error);
      expect(await sendInstead(said, "better")).toBe(false);
      expect(writtenInstead(said)).toBe("better");
    }
    expect(box("A")).toBe("");
  });

  it("and replaces another one is back at once, although the conversation cannot be read either", async () => {
    const said = entry("t1", null, "one");
    vi.mocked(reload).mockReturnValueOnce(new Promise(() => undefined));
    post.mockRejectedValueOnce(LOST);
    expect(await sendInstead(said, "better")).toBe(false);
  });

  it.each([
    ["better", null],
    ["better still", "better still"],
  ])("and is found in place of the earlier one later is written no more, unless it was changed: %s", async (now, left) => {
    const said = entry("t1", null, "one");
    keepInstead(said, "better");
    post.mockRejectedValueOnce(LOST);
    expect(await sendInstead(said, "better")).toBe(false);
    editTurn("t1");
    keepInstead(said, now);
    useThread.setState({ entries: [entry("t2", null, "better")] });
    expect([writtenInstead(said), useView.getState().editing]).toEqual([left, null]);
  });

  it("because another tab was faster: the conversation is read again", async () => {
    post.mockRejectedValueOnce(new ApiError(409, "run_in_progress", "run in progress"));
    await write("A", "mine");
    expect(reload).toHaveBeenCalledOnce();
    expect(box("A")).toBe("mine");
    expect(useThread.getState().fault?.code).toBe("run_in_progress");
    useThread.setState({ entries: [entry("t1", null, "one"), entry("t2", "t1", "theirs", "running")] });
    expect(useThread.getState().fault).not.toBeNull();
    useThread.setState({ entries: [entry("t1", null, "one"), entry("t2", "t1", "theirs")] });
    expect(useThread.getState().fault).toBeNull();
  });
});

describe("a message that may have arrived", () => {
  const keys = () => post.mock.calls.map(([, , key]) => key);

  it("is in the box after a reload, and goes out under the same key", async () => {
    const request = held<Turn>();
    post.mockReturnValueOnce(request.promise);
    void write("A", "not to be lost");
    loadAnew();
    expect(box("A")).toBe("not to be lost");
    post.mockResolvedValueOnce(turn("t2", "t1", "not to be lost"));
    await send("A", box("A"));
    expect(keys()[1]).toBe(keys()[0]);
    loadAnew();
    expect(box("A")).toBe("");
  });

  it("keeps its agent after a reload, at which no agent is chosen any more", async () => {
    useAgents.setState({ chosen: "writer" });
    post.mockRejectedValue(LOST);
    await write("A", "pay");
    useAgents.setState({ chosen: null });
    await send("A", "pay");
    expect(post.mock.calls[1]).toEqual(post.mock.calls[0]);
    useAgents.setState({ chosen: "reader" });
    await send("A", "pay");
    expect(post.mock.calls[2]?.[1].agent).toBe("reader");
    expect(keys()[2]).not.toBe(keys()[0]);
    useAgents.setState({ chosen: null });
  });

  it("goes out again under the same key and in the same words, until it is taken", async () => {
    post.mockRejectedValueOnce(LOST).mockRejectedValueOnce(new ApiError(401, "unauthenticated", "")).mockResolvedValue(turn("t2", "t1", "pay"));
    await write("A", "pay");
    expect(useThread.getState().fault?.code).toBe("unanswered");
    // Were it another request, the server would refuse its key.
    useThread.setState({ entries: [entry("t1", null, "one", "waiting")] });
    await send("A", "pay");
    await send("A", "pay");
    expect(new Set(keys()).size).toBe(1);
    expect(post.mock.calls.map(([, body]) => body.supersede)).toEqual([undefined, undefined, undefined]);
    await send("A", "pay");
    expect(new Set(keys()).size).toBe(2);
  });

  it("has another key when its text is another, or when the server has refused it", async () => {
    post.mockRejectedValueOnce(LOST).mockRejectedValueOnce(new ApiError(409, "interrupt_pending", "")).mockRejectedValue(LOST);
    await write("A", "pay 1");
    await write("A", "pay 2");
    await write("A", "pay 2");
    expect(new Set(keys()).size).toBe(3);
  });

  it("leaves the box when its turn is seen, and what was typed since stays", async () => {
    post.mockRejectedValueOnce(LOST);
    await write("A", "one");
    useThread.setState({ entries: [entry("t1", null, "one"), entry("t2", "t1", "two")] });
    // The first turn has the same words, but was there before.
    expect(box("A")).toBe("one");
    setDraft("A", "one\n\nand more");
    useThread.setState({ entries: [entry("t1", null, "one"), entry("t3", "t1", "one")] });
    expect(box("A")).toBe("and more");
    expect(useThread.getState().fault).toBeNull();
  });

  it("is seen after a reload too", async () => {
    post.mockRejectedValueOnce(LOST);
    await write("A", "two");
    loadAnew();
    openThread(null);
    expect(box("A")).toBe("two");
    openThread("A", [entry("t1", null, "one"), entry("t2", "t1", "two")]);
    expect(box("A")).toBe("");
    loadAnew();
    expect(box("A")).toBe("");
  });

  it("and whose turn has ended when the page learns of it is shown with what was answered", async () => {
    post.mockResolvedValueOnce({ ...turn("t2", "t1", "two"), status: "done" });
    vi.mocked(reload).mockImplementationOnce(() => {
      useThread.setState({ entries: [entry("t1", null, "one"), entry("t2", "t1", "two")] });
      return Promise.resolve();
    });
    expect(await write("A", "two")).toBe(true);
    expect(reload).toHaveBeenCalledOnce();
    expect(useThread.getState()).toMatchObject({ fault: null, sending: null });
    expect(box("A")).toBe("");
  });

  it("is looked for at once", async () => {
    post.mockRejectedValueOnce(LOST);
    vi.mocked(reload).mockImplementationOnce(() => {
      useThread.setState({ entries: [entry("t1", null, "one"), entry("t2", "t1", "two")] });
      return Promise.resolve();
    });
    expect(await write("A", "two")).toBe(true);
    expect(useThread.getState()).toMatchObject({ fault: null, sending: null });
    expect(box("A")).toBe("");
  });

  it("counts as sent if its turn is seen before the request is given up", async () => {
    const request = held<Turn>();
    post.mockReturnValueOnce(request.promise);
    const sent = write("A", "two");
    useThread.setState({ entries: [entry("t1", null, "one"), entry("t2", "t1", "two")] });
    request.reject(LOST);
    expect(await sent).toBe(true);
    expect(box("A")).toBe("");
    expect(useThread.getState()).toMatchObject({ fault: null, sending: null });
  });
});

it("another answer to a message is not shown in a conversation that was opened meanwhile", async () => {
  const request = held<Turn>();
  vi.mocked(api.regenerate).mockReturnValueOnce(request.promise);
  const done = regenerate(entry("t1", null, "one"));
  openThread("B", [entry("b1", null, "of B")]);
  request.resolve(turn("t2", null, "one"));
  await done;
  expect(useThread.getState().entries.map((item) => item.turn.id)).toEqual(["b1"]);
});

it("what was typed in the last moment is stored when the page is left", () => {
  followLeaving();
  setDraft("A", "in the last moment");
  dispatchEvent(new Event("pagehide"));
  loadAnew();
  expect(box("A")).toBe("in the last moment");
});

describe("two tabs", () => {
  /** What another tab does to what the browser keeps for all tabs. */
  const other = (name: string, value: string | null): void => (value === null ? localStorage.removeItem(`caesura.draft.${name}`) : localStorage.setItem(`caesura.draft.${name}`, value));

  it("each keep their own text over a reload, and a new one begins with the newest", () => {
    setDraft("A", "mine");
    storeAll();
    other("A", "theirs");
    other("A", null);
    loadAnew();
    expect(box("A")).toBe("mine");
    other("A", "newest");
    sessionStorage.clear();
    loadAnew();
    expect(box("A")).toBe("newest");
  });

  it("what is sent in one is not removed from the other", async () => {
    post.mockResolvedValueOnce(turn("t2", "t1", "short"));
    const sent = write("A", "short");
    other("A", "a long draft in another tab");
    await sent;
    expect(localStorage.getItem("caesura.draft.A")).toBe("a long draft in another tab");
  });

  it("a text whose tab is closed is there for the next one", () => {
    followLeaving();
    keep("user", "ann");
    claimTab("ann");
    setDraft(null, "not sent");
    storeAll();
    other("new", null);
    dispatchEvent(new Event("pagehide"));
    sessionStorage.clear();
    loadAnew();
    expect(box(null)).toBe("not sent");
  });

  it("the texts of one person are not shown to the next one in the same tab", () => {
    claimTab("ann");
    setDraft("A", "of ann");
    storeAll();
    localStorage.clear();
    loadAnew();
    claimTab("bob");
    expect(box("A")).toBe("");
  });
});

it("the texts are this person's after everything that the site kept was removed", () => {
  claimTab("ann");
  localStorage.clear();
  sessionStorage.clear();
  setDraft("A", "typed since");
  storeAll();
  expect([localStorage.getItem("caesura.user"), sessionStorage.getItem("caesura.owner")]).toEqual(["ann", "ann"]);
  forgetDrafts();
  localStorage.clear();
  setDraft("A", "of nobody");
  storeAll();
  expect(localStorage.getItem("caesura.user")).toBeNull();
});

it("a first message that is too long makes no conversation", async () => {
  go("/");
  openThread(null);
  vi.mocked(api.createConversation).mockClear();
  const text = "界".repeat(87_382);
  await write(null, text);
  expect(api.createConversation).not.toHaveBeenCalled();
  expect([box(null), useThread.getState().fault?.code]).toEqual([text, "too_large"]);
});

describe("after a reload the line says that a message had no answer", () => {
  const reopened = () => {
    loadAnew();
    end();
    openThread(null);
    end = followOthers();
    return useThread.getState().fault?.code;
  };

  it("in a new conversation too, and when the person comes back to it", async () => {
    go("/");
    openThread(null);
    vi.mocked(api.createConversation).mockRejectedValueOnce(LOST);
    await write(null, "hello");
    expect(reopened()).toBe("unanswered");
    openThread("A");
    useThread.setState(NONE, true);
    expect(useThread.getState().fault?.code).toBe("unanswered");
  });

  it("but not if it was refused because the session had ended", async () => {
    go("/");
    openThread(null);
    vi.mocked(api.createConversation).mockRejectedValueOnce(new ApiError(401, "unauthenticated", ""));
    await write(null, "hello");
    expect(reopened()).toBeUndefined();
    expect(box(null)).toBe("hello");
  });
});

it("what was typed in a conversation that is deleted goes to the box of a new one, and nothing of it stays", () => {
  const said = entry("t1", null, "one");
  const id = said.turn.conversation_id;
  setDraft(null, "begun");
  setDraft(id, "typed here");
  keepInstead(said, "said better");
  keepDocumentDraft(id, "d1", { text: "a document", base: 1 });
  localStorage.setItem(`caesura.left.${id}`, "{}");
  expect(rescue(id, true)).toBe(true);
  expect(box(id)).toBe("");
  expect(box(null).split("\n\n").sort()).toEqual(["a document", "begun", "said better", "typed here"]);
  expect(Object.keys(localStorage).filter((name) => name.includes(id))).toEqual([]);
  expect(rescue(id, false)).toBe(false);
});

it("what another tab has written in a deleted conversation is left to it, and taken if that tab is closed", () => {
  localStorage.setItem("caesura.draft.Z", "of a closed tab");
  expect(rescue("Z", true)).toBe(false);
  expect(localStorage.getItem("caesura.draft.Z")).toBe("of a closed tab");
  expect(rescue("Z", false)).toBe(true);
  expect([box(null), localStorage.getItem("caesura.draft.Z")]).toEqual(["of a closed tab", null]);
});

it("a message that replaces another one is kept while it is written", () => {
  const said = entry("t1", null, "one");
  keepInstead(said, "one, but better");
  expect([writtenInstead(said), isBegun(said)]).toEqual(["one, but better", true]);
  keepInstead(said, "one");
  expect([writtenInstead(said), isBegun(said)]).toEqual([null, false]);
});

describe("a browser that stores nothing", () => {
  const full = (): void => void vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
    throw new DOMException("full", "QuotaExceededError");
  });
  /** Whether the browser asks before the page is left. */
  const asks = (): boolean => !dispatchEvent(new Event("beforeunload", { cancelable: true }));
  afterEach(() => void vi.restoreAllMocks());

  it("is told of, and asks before it loses a text, until that is sent or removed", async () => {
    setDraft("A", "stored");
    storeAll();
    expect([useUnstored.getState().lossy, asks()]).toEqual([false, false]);
    full();
    setDraft("A", "precious");
    storeAll();
    expect([useUnstored.getState().lossy, asks()]).toEqual([true, true]);
    post.mockRejectedValueOnce(new ApiError(400, "bad_input", "no"));
    await send("A", "precious");
    expect([box("A"), asks()]).toEqual(["precious", true]);
    setDraft("A", "");
    storeAll();
    expect([useUnstored.getState().lossy, asks()]).toEqual([false, false]);
  });

  it("does not ask for the next person", () => {
    full();
    setDraft("A", "precious");
    storeAll();
    forgetDrafts();
    expect([useUnstored.getState().lossy, asks()]).toEqual([false, false]);
  });
});

describe("a message without an answer", () => {
  const fault = () => useThread.getState().fault?.code;
  const openAnew = (entries: Entry[]): void => {
    loadAnew();
    useThread.setState({ ...NONE, id: "A", phase: "loading" }, true);
    useThread.setState({ phase: "ready", entries });
  };

  it("is not sent yet after a reload either, as long as its text is the same", async () => {
    post.mockRejectedValueOnce(LOST);
    await write("A", "pay");
    openAnew([entry("t1", null, "one")]);
    expect([box("A"), fault()]).toEqual(["pay", "unanswered"]);
    setDraft("A", "pay later");
    storeAll();
    openAnew([entry("t1", null, "one")]);
    expect(fault()).toBeUndefined();
  });

  it("is sent if the conversation has it after the reload", async () => {
    post.mockRejectedValueOnce(LOST);
    await write("A", "pay");
    openAnew([entry("t1", null, "one"), entry("t2", "t1", "pay")]);
    expect([box("A"), fault()]).toEqual(["", undefined]);
  });

  it("was refused, and is no riddle", async () => {
    post.mockRejectedValueOnce(new ApiError(400, "bad_input", "no"));
    await write("A", "pay");
    openAnew([entry("t1", null, "one")]);
    expect([box("A"), fault()]).toEqual(["pay", undefined]);
  });
});
