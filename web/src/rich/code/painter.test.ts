import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { Painter } from "./painter";
import type { Reply, Request, Token } from "./token";

/** Answers when it is told to. */
class Double extends EventTarget {
  readonly asked: Request[] = [];
  ended = false;
  postMessage(request: Request): void {
    this.asked.push(request);
  }
  terminate(): void {
    this.ended = true;
  }
  answer(reply: Reply): void {
    this.dispatchEvent(new MessageEvent("message", { data: reply }));
  }
}

const workers: Double[] = [];
const make = () => {
  workers.push(new Double());
  return workers.at(-1) as unknown as Worker;
};
const line = (text: string): Token[] => [{ text, kind: "k" }];

beforeEach(() => {
  workers.length = 0;
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("a text that grows while the worker is busy is asked for once more, in its newest form", () => {
  const drawn: (readonly Token[][])[] = [];
  const paper = new Painter(make).open("python", (lines) => drawn.push(lines));
  paper.paint("a");
  paper.paint("a\nb");
  paper.paint("a\nb\nc");
  expect(workers[0]?.asked).toHaveLength(1);
  workers[0]?.answer({ id: 1, from: 0, lines: [line("a")] });
  expect(workers[0]?.asked.at(-1)).toEqual({ id: 1, language: "python", text: "a\nb\nc" });
  workers[0]?.answer({ id: 1, from: 1, lines: [line("b"), line("c")] });
  expect(drawn.at(-1)).toEqual([line("a"), line("b"), line("c")]);
});

test("a worker that hangs is ended, and the other texts are painted by a new one", () => {
  const painter = new Painter(make);
  const drawn: string[] = [];
  painter.open("evil", () => drawn.push("evil")).paint("hard");
  painter.open("python", () => drawn.push("python")).paint("good");
  vi.advanceTimersByTime(5000);
  expect(workers[0]?.ended).toBe(true);
  expect(workers[1]?.asked).toEqual([{ id: 2, language: "python", text: "good" }]);
  workers[1]?.answer({ id: 2, from: 0, lines: [line("good")] });
  vi.advanceTimersByTime(10_000);
  expect(drawn).toEqual(["python"]);
  expect(workers).toHaveLength(2);
});

test("no worker is started for a text that is closed before it is painted", () => {
  new Painter(make).open("python", () => {}).close();
  expect(workers).toHaveLength(0);
});
