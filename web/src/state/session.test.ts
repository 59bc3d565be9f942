// @vitest-environment jsdom
import { beforeEach, describe, expect, it, vi } from "vitest";

import * as api from "../api/calls";
import { ApiError, errorOf, request, sessionEnded } from "../api/client";
import { setDraft } from "./drafts";
import { keep, kept } from "./kept";
import { checkPerson, followTabs, signIn, signOut, signOutAgain, start, useSession } from "./session";

vi.mock("../api/calls");
const away = { assign: vi.fn(), reload: vi.fn() };
vi.stubGlobal("location", away);
followTabs();

const session = (user_id: string) => ({ user_id, csrf: "x", expires_at: null });
const phase = () => useSession.getState().phase;
const shown = (persisted: boolean) => dispatchEvent(Object.assign(new Event("pageshow"), { persisted }));

beforeEach(async () => {
  localStorage.clear();
  vi.resetAllMocks();
  useSession.setState({ phase: "starting", user: "" });
  vi.mocked(api.signIn).mockResolvedValue(session("alice"));
  await signIn("alice", "password");
  keep("draft.new", "a thought");
});

describe("signing out", () => {
  it("leaves nothing on the screen, also for the Back button", async () => {
    const done = signOut();
    expect(phase()).toBe("gone");
    await done;
    expect(away.assign).toHaveBeenCalledWith("/");
    shown(true);
    expect(away.reload).toHaveBeenCalled();
  });

  it("removes what this browser keeps although the server cannot be told, and says so", async () => {
    vi.mocked(api.signOut).mockRejectedValueOnce(new ApiError(0, "unreachable", ""));
    await signOut();
    expect(phase()).toBe("left");
    expect([kept("draft.new"), kept("user")]).toEqual([null, null]);
    expect(away.assign).not.toHaveBeenCalled();
    signOutAgain();
    await vi.waitFor(() => expect(away.assign).toHaveBeenCalledWith("/"));
    expect(kept("leaving")).toBeNull();
  });

  it("is made good when the page is opened again", async () => {
    vi.mocked(api.signOutEverywhere).mockRejectedValueOnce(new ApiError(0, "unreachable", ""));
    await signOut(true);
    useSession.setState({ phase: "starting", user: "" });
    vi.mocked(api.options).mockResolvedValue({ auth: "password", registration: "open" });
    vi.mocked(api.session).mockResolvedValue(session("alice"));
    await start();
    expect(api.signOutEverywhere).toHaveBeenCalledTimes(2);
    expect(phase()).toBe("gone");
  });

  it("holds for a tab that is loaded meanwhile, although the server told it that the session holds", async () => {
    keep("user", null);
    keep("leaving", "here");
    useSession.setState({ phase: "starting", user: "" });
    vi.mocked(api.options).mockResolvedValue({ auth: "password", registration: "open" });
    vi.mocked(api.session).mockImplementation(() => {
      keep("leaving", null);
      return Promise.resolve(session("alice"));
    });
    await start();
    expect([phase(), kept("user")]).toEqual(["gone", null]);
  });
});

describe("a tab of somebody who has left", () => {
  it("is emptied when another tab signs out", () => {
    setDraft("c", "half a word");
    dispatchEvent(new StorageEvent("storage", { key: "caesura.user", oldValue: "alice", newValue: null }));
    expect(phase()).toBe("gone");
    expect(away.assign).toHaveBeenCalledWith("/");
  });

  it("is emptied when the feed turns out to be another person's", () => {
    checkPerson("alice");
    expect(phase()).toBe("in");
    checkPerson("bob");
    expect(phase()).toBe("gone");
  });

  it("shows nothing of the first person when another one signs in", async () => {
    useSession.setState({ phase: "ended" });
    vi.mocked(api.signIn).mockResolvedValue(session("bob"));
    await signIn("bob", "password");
    expect(phase()).toBe("gone");
    expect(kept("draft.new")).toBeNull();
  });

  it("is loaded anew when the browser shows it as it was, unless the person is the same", () => {
    shown(true);
    expect(away.reload).not.toHaveBeenCalled();
    keep("user", "bob");
    shown(true);
    expect(phase()).toBe("gone");
    expect(away.reload).toHaveBeenCalled();
  });
});

describe("a sign-in in another tab", () => {
  const signed = () => dispatchEvent(new StorageEvent("storage", { key: "caesura.signed", newValue: "2" }));

  it("ends the dialog of the same person here too", async () => {
    useSession.setState({ phase: "ended", epoch: 1 });
    vi.mocked(api.session).mockResolvedValue(session("alice"));
    signed();
    await vi.waitFor(() => expect(useSession.getState()).toMatchObject({ phase: "in", epoch: 2 }));
    expect(kept("draft.new")).toBe("a thought");
  });

  it("opens a tab that stands at the door", async () => {
    useSession.setState({ phase: "out", user: "" });
    vi.mocked(api.session).mockResolvedValue(session("alice"));
    signed();
    await vi.waitFor(() => expect(useSession.getState()).toMatchObject({ phase: "in", user: "alice" }));
  });

  it("gives this one the token of the new session, and reads nothing anew", async () => {
    useSession.setState({ epoch: 1 });
    vi.mocked(api.session).mockResolvedValue({ ...session("alice"), csrf: "new" });
    signed();
    const token = vi.fn();
    await vi.waitFor(async () => {
      vi.stubGlobal("fetch", (_: string, { headers }: { headers: Record<string, string> }) => {
        token(headers["X-CSRF-Token"]);
        return Promise.resolve(new Response("{}"));
      });
      await request("/x", { method: "POST" });
      expect(token).toHaveBeenLastCalledWith("new");
    });
    expect(useSession.getState()).toMatchObject({ phase: "in", epoch: 1 });
  });

  it("is told to the others each time", async () => {
    const first = kept("signed");
    await signIn("alice", "password");
    expect(first).not.toBeNull();
    expect(kept("signed")).not.toBe(first);
    await signOut();
    expect(kept("signed")).toBeNull();
  });
});

describe("a session that the server no longer knows", () => {
  const opened = async (error: ApiError | null): Promise<void> => {
    vi.mocked(api.options).mockResolvedValue({ auth: "password", registration: "open" });
    if (error) vi.mocked(api.session).mockRejectedValue(error);
    else vi.mocked(api.session).mockResolvedValue(session("alice"));
    await start();
  };
  const refusal = (code: string) => new Response(JSON.stringify({ error: { code, message: "" } }), { status: 401 });

  it("and has expired keeps the draft, and asks the same person", async () => {
    await opened(null);
    sessionEnded(await errorOf(refusal("unauthenticated")));
    expect([phase(), kept("draft.new"), kept("user")]).toEqual(["ended", "a thought", "alice"]);
    await opened(new ApiError(401, "unauthenticated", ""));
    expect(kept("draft.new")).toBe("a thought");
  });

  it("because the person has ended it elsewhere leaves nothing of them, whatever the page asks then", async () => {
    await opened(null);
    setDraft("c", "half a word");
    sessionEnded(await errorOf(refusal("revoked")));
    expect([phase(), kept("draft.new"), kept("user")]).toEqual(["gone", null, null]);
    expect(away.assign).toHaveBeenCalledWith("/");
  });

  it("is known by a header too", async () => {
    await opened(null);
    sessionEnded(await errorOf(new Response('{"detail":"no"}', { status: 401, headers: { "X-Error-Code": "revoked" } })));
    expect(phase()).toBe("gone");
  });

  it("because the person has ended it elsewhere leaves nothing for who opens the page later", async () => {
    await opened(new ApiError(401, "revoked", ""));
    expect([phase(), kept("draft.new"), kept("user")]).toEqual(["out", null, null]);
  });
});
