// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { ApiError, insist, mayBeDone, onHeard, onRefused, onSessionEnd, request, setForgeryToken } from "./client";

const HTML = "<html>blocked</html>";
/** What something between the page and the server says. */
const foreign = (status: number) => () => new Response(HTML, { status, headers: { "Content-Type": "text/html" } });
/** Caesura's own refusal, in the form of the page's API and in that of signing in. */
const own = (status: number, code: string) => () => new Response(JSON.stringify({ error: { code, message: "no" } }), { status });
const plain = (status: number, code: string) => () => new Response('{"detail":"no"}', { status, headers: { "X-Error-Code": code } });
const good = () => new Response('{"id":"t1"}');

function serve(...replies: (() => Response)[]) {
  const keys: (string | null)[] = [];
  vi.stubGlobal("fetch", (_: string, { headers }: { headers: Record<string, string> }) => {
    keys.push(headers["Idempotency-Key"] ?? null);
    return Promise.resolve((replies.length > 1 ? replies.shift() : replies[0])!());
  });
  return keys;
}

const fault = (sent: Promise<unknown>): Promise<ApiError> => sent.then(() => expect.unreachable(), (error: unknown) => error as ApiError);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  onHeard(() => undefined);
});

describe("a refusal", () => {
  it.each([400, 401, 403, 404, 409, 422, 429, 500])("that is not Caesura's says nothing about what was done (%i)", async (status) => {
    const ended = vi.fn();
    onSessionEnd(ended);
    serve(foreign(status));
    const error = await fault(request("/x", { method: "POST" }));
    expect(error).toMatchObject({ status: 0, code: "unreachable", unreachable: true });
    expect(mayBeDone(error)).toBe(true);
    expect(ended).not.toHaveBeenCalled();
  });

  it.each([own, plain])("of Caesura's is believed", async (form) => {
    serve(form(404, "not_found"));
    const error = await fault(request("/x", { method: "POST" }));
    expect(error).toMatchObject({ status: 404, code: "not_found", unreachable: false });
    expect(mayBeDone(error)).toBe(false);
  });

  it("of Caesura's ends the session", async () => {
    const ended = vi.fn();
    onSessionEnd(ended);
    serve(plain(401, "revoked"));
    await fault(request("/x"));
    expect(ended.mock.calls).toEqual([[true]]);
  });
});

describe("a request with the token of an earlier session", () => {
  const tokens: (string | undefined)[] = [];
  beforeEach(() => {
    tokens.length = 0;
    setForgeryToken("old");
    vi.stubGlobal("fetch", (_: string, { headers }: { headers: Record<string, string> }) => {
      tokens.push(headers["X-CSRF-Token"]);
      return Promise.resolve(headers["X-CSRF-Token"] === "new" ? good() : own(403, "forbidden")());
    });
  });
  afterEach(() => {
    setForgeryToken("");
    onRefused(() => Promise.resolve(false));
  });

  const renewed = (same: boolean) => () => {
    setForgeryToken("new");
    return Promise.resolve(same);
  };

  it("is sent again with that of the session that holds now", async () => {
    onRefused(renewed(true));
    await expect(request("/x", { method: "POST" })).resolves.toEqual({ id: "t1" });
    expect(tokens).toEqual(["old", "new"]);
  });

  it("is not sent in the name of another person who has signed in", async () => {
    onRefused(renewed(false));
    expect(await fault(request("/x", { method: "POST" }))).toMatchObject({ status: 403 });
    expect(tokens).toEqual(["old"]);
  });

  it("is refused if there is no other session", async () => {
    expect(await fault(request("/x", { method: "POST" }))).toMatchObject({ status: 403 });
    expect(tokens).toEqual(["old"]);
  });
});

it.each([
  ["the sign-in page of a network", () => new Response(HTML)],
  ["half a response", () => new Response('{"id": "t')],
])("a good response whose body is %s says nothing about what was done", async (_, reply) => {
  serve(reply);
  const heard = vi.fn();
  onHeard(heard);
  expect(mayBeDone(await fault(request("/x", { method: "POST" })))).toBe(true);
  expect(heard).not.toHaveBeenCalled();
});

describe("a request that must arrive once", () => {
  const send = () => insist("/x", { method: "POST", key: "k" });

  it("goes out again under its key after a refusal that is not Caesura's", async () => {
    const keys = serve(foreign(404), good);
    const heard = vi.fn();
    onHeard(heard);
    const sent = send();
    await vi.runAllTimersAsync();
    expect(await sent).toEqual({ id: "t1" });
    expect(keys).toEqual(["k", "k"]);
    expect(heard).toHaveBeenCalledOnce();
  });

  it("does not wait for as long as a proxy likes", async () => {
    const keys = serve(() => new Response(null, { status: 503, headers: { "Retry-After": "600" } }));
    expect(await fault(send())).toMatchObject({ unreachable: true, retryAfter: 600 });
    expect(keys).toHaveLength(1);
  });

  it("ends although the server never answers", async () => {
    vi.stubGlobal("fetch", (_: string, { signal }: { signal: AbortSignal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("given up")))));
    vi.spyOn(AbortSignal, "timeout").mockImplementation((ms) => {
      const abort = new AbortController();
      setTimeout(() => abort.abort(), ms);
      return abort.signal;
    });
    const ended = fault(send());
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await Promise.race([ended, Promise.resolve("hangs")])).toMatchObject({ status: 0 });
  });
});

describe("a number with more digits than a script holds", () => {
  it("comes and goes as it is written", async () => {
    const body = '{"args":{"account":90071992547409931}}';
    let sent: unknown = null;
    vi.stubGlobal("fetch", (_: string, given: RequestInit) => {
      sent = given.body;
      return Promise.resolve(new Response(body));
    });
    await request("/x", { method: "POST", body: await request("/x") });
    expect(sent).toBe(body);
  });
});
