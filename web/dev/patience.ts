// For tests: a busy machine is no fault. What a test waits for may take this long.
import { vi } from "vitest";

const LONGEST = 30_000;

const { waitFor } = vi;
vi.waitFor = (callback, options = LONGEST) => waitFor(callback, options);

if ("document" in globalThis) {
  const { configure } = await import("@testing-library/dom");
  configure({ asyncUtilTimeout: LONGEST });
}
