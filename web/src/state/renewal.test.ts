// @vitest-environment jsdom
import { beforeEach, expect, it, vi } from "vitest";

import { forgetDrafts, setDraft } from "./drafts";
import { renew } from "./renewal";

const again = vi.fn();
const page = (entry: string): Response => new Response(`<html><script src="/first.js"></script><script type="module" crossorigin src="${entry}"></script></html>`);
const serve = (answer: () => Promise<Response>): void => void vi.stubGlobal("fetch", vi.fn(answer));

beforeEach(() => {
  again.mockReset();
  sessionStorage.clear();
  forgetDrafts();
  document.body.innerHTML = '<script type="module" src="/assets/old.js"></script><input id="title" value="">';
  serve(() => Promise.resolve(page("/assets/new.js")));
});

it("a page whose server was renewed is loaded anew, once, and what was typed is kept", async () => {
  setDraft("A", "typed");
  expect(await renew(again)).toBe(true);
  expect(sessionStorage.getItem("caesura.draft.A")).toBe("typed");
  expect(await renew(again)).toBe(false);
  expect(again).toHaveBeenCalledOnce();
});

it("a part that is missing for another reason changes nothing", async () => {
  serve(() => Promise.resolve(page("/assets/old.js")));
  expect(await renew(again)).toBe(false);
  serve(() => Promise.reject(new TypeError("offline")));
  expect(await renew(again)).toBe(false);
  const replies = [page("/assets/new.js"), new Response(null, { status: 404 })];
  serve(() => Promise.resolve(replies.shift() ?? expect.unreachable()));
  expect(await renew(again)).toBe(false);
  expect(again).not.toHaveBeenCalled();
});

it("a page is not loaded anew over text that the browser does not keep", async () => {
  const title = document.querySelector<HTMLInputElement>("#title");
  if (title) title.value = "a new title";
  title?.focus();
  expect(await renew(again)).toBe(false);
  title?.blur();
  setDraft("A", "typed");
  vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
    throw new DOMException("full", "QuotaExceededError");
  });
  expect(await renew(again)).toBe(false);
});
