// @vitest-environment jsdom
import { beforeEach, expect, it, vi } from "vitest";

import * as api from "../api/calls";
import { ApiError } from "../api/client";
import { documentDraft, keepDocumentDraft, saveDocument } from "./documents";
import { forgetDrafts } from "./drafts";

vi.mock("../api/calls");
vi.mock("./opening");

const DRAFT = { text: "my words", base: 1 };

beforeEach(() => {
  forgetDrafts();
  vi.mocked(api.addVersion).mockRejectedValue(new ApiError(409, "outdated", ""));
  vi.mocked(api.versions).mockResolvedValue({ versions: [1, 2].map((version) => ({ version, created_at: 0, turn_id: null, update_type: "" })) });
});

it("a draft that the browser cannot store is kept in the page, and that is told", () => {
  vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
    throw new DOMException("full", "QuotaExceededError");
  });
  expect(keepDocumentDraft("A", "d", DRAFT)).toBe(false);
  expect(documentDraft("A", "d")).toEqual(DRAFT);
  forgetDrafts();
  expect(documentDraft("A", "d")).toBeNull();
});

it("a version whose response was lost is found to be saved", async () => {
  keepDocumentDraft("A", "d", DRAFT);
  vi.mocked(api.version).mockResolvedValue({ content: "my words" });
  expect(await saveDocument("A", "d", DRAFT)).toBe("saved");
  expect(api.version).toHaveBeenCalledWith("A", "d", 2);
  expect(documentDraft("A", "d")).toBeNull();
});

it("somebody else's version is not taken for one's own", async () => {
  keepDocumentDraft("A", "d", DRAFT);
  vi.mocked(api.version).mockResolvedValue({ content: "other words" });
  expect(await saveDocument("A", "d", DRAFT)).toBe("outdated");
  expect(documentDraft("A", "d")).toEqual(DRAFT);
});
