// For tests: a browser drops the timers of a page that is closed. Node keeps them, and they would look for a document
// that is gone when their tests are over.
import { afterAll } from "vitest";

type Start = (handler: (...given: unknown[]) => void, ms?: number, ...given: unknown[]) => NodeJS.Timeout;

const running = new Set<NodeJS.Timeout>();

function noted(start: Start): Start {
  return (...given) => {
    const timer = start(...given);
    running.add(timer);
    return timer;
  };
}

globalThis.setTimeout = noted(globalThis.setTimeout) as unknown as typeof setTimeout;
globalThis.setInterval = noted(globalThis.setInterval) as unknown as typeof setInterval;

afterAll(() => {
  for (const timer of running) clearTimeout(timer);
  running.clear();
});
