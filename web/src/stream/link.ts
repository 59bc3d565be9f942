// The one module that knows reconnection: it follows a stream from a cursor until there is nothing left to read.
import { errorOf, sessionEnded } from "../api/client";
import { learnClock, moment, passed, ticks } from "../api/clock";
import { ROOT } from "../api/root";
import { parser, type Frame } from "./frames";
import { takePlace } from "./places";

export type LinkState =
  | { kind: "connecting" }
  | { kind: "open" }
  /** Other windows have all the connections that streams may take. This one waits for its turn, or until `retry` if it is idle. */
  | { kind: "crowded" }
  /** The next try is at this tick. */
  | {
      kind: "lost";
      retryAt: number;
      /** So many tries in a row have ended in silence, without a refusal. */
      silent: number;
    }
  | { kind: "ended"; why: "done" | "gone" | "closed" };

export interface LinkOptions {
  url: string;
  /** The id of the last frame that was read; empty for the beginning. */
  after: string;
  onFrame: (frame: Frame) => void;
  onState: (state: LinkState) => void;
  /** The response itself says that the reader has everything. */
  untilDone: boolean;
  /** Milliseconds after which a page that nobody sees stops reading, until it is seen again; null: never. A browser has
   * few connections to one server, for all of its tabs together. */
  rest: number | null;
  /** It takes one of the few places that the streams of all windows share. */
  placed?: boolean;
  /** Nothing is expected for now: a place that was left to another window is not asked for again before `retry`. */
  idle?: () => boolean;
}

export interface Link {
  /** Try at once instead of waiting for the next try. */
  retry: () => void;
  close: () => void;
}

export interface OwnLink extends Link {
  /** The next try goes on after this frame: what came before it is known from elsewhere. */
  skipTo: (after: string) => void;
}

/** Milliseconds before the first, second, … try after a loss. */
export const WAITS = [500, 1000, 2000, 4000, 8000, 15_000, 30_000] as const;
/** A stream pings every 15 seconds. One that is silent for this long is dead, whatever the browser thinks. */
export const SILENCE = 20_000;
/** A stream that was silent for this long has missed a ping: it is given up as soon as somebody looks. */
export const DOUBT = 17_000;
/** Milliseconds until the server must have begun to answer the first try. It begins at once, but a browser may use a connection that
 * died unnoticed. Each later try may take half as long again: the server may be slow. */
export const PATIENCE = 4000;

const GONE = [403, 404, 422];

const isStream = (response: Response): boolean => response.headers.get("Content-Type")?.startsWith("text/event-stream") ?? false;

type Outcome = { kind: "again"; wait: number | null; refused: boolean } | { kind: "done" } | { kind: "gone" } | { kind: "left" };

export function follow(options: LinkOptions): OwnLink {
  let after = options.after;
  let losses = 0;
  let silent = 0;
  let tries = 0;
  let closed = false;
  let resting = false;
  /** It waits for a place: a new try would lose its turn. */
  let queued = false;
  /** It has left its place, and needs none for now. */
  let parked = false;
  let restTimer: ReturnType<typeof setTimeout> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let current: AbortController | undefined;
  let heard = moment();
  let answered = false;
  const tabs = typeof BroadcastChannel === "function" ? new BroadcastChannel("caesura.tabs") : undefined;

  const report = (state: LinkState): void => {
    if (!closed || state.kind === "ended") options.onState(state);
  };

  const read = async (response: Response, signal: AbortSignal): Promise<void> => {
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const decoder = new TextDecoder();
    const frames = parser();
    for (;;) {
      const { done, value } = await reader.read();
      if (done || signal.aborted) return;
      heard = moment();
      losses = 0;
      silent = 0;
      for (const frame of frames.push(decoder.decode(value, { stream: true }))) {
        if (closed) return;
        if (frame.id) after = frame.id;
        options.onFrame(frame);
      }
    }
  };

  /** Waits for a place without a word of loss. Leaving it for another window ends the try between two frames. */
  const place = async (abort: AbortController, onLeft: () => void): Promise<() => void> => {
    const onWait = (): void => {
      queued = true;
      report({ kind: "crowded" });
    };
    const leave = await takePlace(abort.signal, {
      focused: () => document.hasFocus(),
      onWait,
      onLeft: () => {
        onLeft();
        abort.abort();
      },
    });
    if (current === abort) queued = false;
    return leave;
  };

  const attempt = async (): Promise<Outcome> => {
    const abort = new AbortController();
    current = abort;
    answered = false;
    heard = moment();
    let left = false;
    const leave = options.placed ? await place(abort, () => (left = true)) : undefined;
    // The server is asked from here on.
    heard = moment();
    let patience = Math.min(SILENCE, PATIENCE * 1.5 ** losses);
    // One timer that looks again, instead of a new one with every word.
    const check = (): void => {
      const left = heard.ticks + patience - ticks();
      if (left <= 0) {
        silent += 1;
        abort.abort();
      } else watch = setTimeout(check, left);
    };
    let watch = setTimeout(check, patience);
    try {
      abort.signal.throwIfAborted();
      const headers: Record<string, string> = { Accept: "text/event-stream" };
      if (after) headers["Last-Event-ID"] = after;
      const response = await fetch(ROOT + options.url, { headers, credentials: "same-origin", cache: "no-store", signal: abort.signal });
      learnClock(response);
      abort.signal.throwIfAborted();
      answered = true;
      heard = moment();
      patience = SILENCE;
      if (response.status === 204) return { kind: "done" };
      if (!response.ok) {
        silent = 0;
        const error = await errorOf(response);
        if (error.status === 401) sessionEnded(error);
        if (GONE.includes(error.status)) return { kind: "gone" };
        return { kind: "again", wait: error.retryAfter === null ? null : error.retryAfter * 1000, refused: true };
      }
      // Something between here and the server may answer in its place, such as the sign-in page of a network.
      if (!response.body || !isStream(response)) return { kind: "again", wait: null, refused: true };
      report({ kind: "open" });
      await read(response, abort.signal);
      return left ? { kind: "left" } : { kind: "again", wait: null, refused: false };
    } catch {
      // Nothing gave up: the network did.
      if (!abort.signal.aborted) silent = 0;
      return left ? { kind: "left" } : { kind: "again", wait: null, refused: true };
    } finally {
      clearTimeout(watch);
      abort.abort();
      leave?.();
    }
  };

  const later = (wait: number): void => {
    report({ kind: "lost", retryAt: ticks() + wait, silent });
    timer = setTimeout(run, wait);
  };

  const run = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (closed) return;
    report({ kind: "connecting" });
    queued = false;
    parked = false;
    current?.abort();
    tries += 1;
    const mine = tries;
    void attempt().then((outcome) => {
      if (closed || resting || mine !== tries) return;
      if (outcome.kind === "left") {
        if (document.hidden && options.rest !== null) rest();
        else if (options.idle?.()) park();
        else run();
      } else if (outcome.kind !== "again") {
        finish(outcome.kind);
      } else if (!outcome.refused && losses === 0) {
        // The server ended the response in good order: there may be nothing left, or it restarts.
        losses = 1;
        timer = setTimeout(run, options.untilDone ? 0 : WAITS[0]);
      } else {
        const usual = WAITS[Math.min(losses, WAITS.length - 1)] as number;
        losses += 1;
        later(outcome.wait ?? usual * (0.8 + Math.random() * 0.4));
      }
    });
  };

  /** Whether the try that is under way may hang: the server has not answered yet, or has missed a ping. */
  const doubtful = (): boolean => !answered || passed(heard) > DOUBT;
  const retry = (): void => {
    if (!closed && !resting && !queued && (timer !== undefined || parked || doubtful())) run();
  };
  /** Somebody looks, maybe after the machine has slept. */
  const look = (): void => {
    if (passed(heard) > DOUBT) retry();
  };
  const dropped = (): void => current?.abort();

  const park = (): void => {
    parked = true;
    report({ kind: "crowded" });
  };
  const rest = (): void => {
    resting = true;
    clearTimeout(timer);
    timer = undefined;
    current?.abort();
  };
  const wake = (): void => {
    if (!resting) return;
    resting = false;
    losses = 0;
    run();
  };
  const seen = (): void => {
    clearTimeout(restTimer);
    if (!document.hidden) {
      tabs?.postMessage("seen");
      if (resting) wake();
      else look();
    } else if (options.rest !== null) restTimer = setTimeout(rest, options.rest);
  };
  /** Of the tabs that nobody sees only the last one that was seen goes on reading for a while. */
  const told = ({ data }: MessageEvent): void => {
    if (data === "new" && !document.hidden) tabs?.postMessage("seen");
    if (data === "seen" && document.hidden && options.rest !== null) {
      clearTimeout(restTimer);
      rest();
    }
  };
  /** The browser may keep a page that the person has left, with its connections. */
  const restored = (event: PageTransitionEvent): void => {
    if (event.persisted) wake();
  };

  const finish = (why: "done" | "gone" | "closed"): void => {
    if (closed) return;
    closed = true;
    clearTimeout(timer);
    clearTimeout(restTimer);
    current?.abort();
    tabs?.close();
    document.removeEventListener("visibilitychange", seen);
    document.removeEventListener("freeze", rest);
    document.removeEventListener("resume", seen);
    removeEventListener("pagehide", rest);
    removeEventListener("pageshow", restored);
    removeEventListener("online", retry);
    removeEventListener("focus", look);
    removeEventListener("offline", dropped);
    if (why !== "closed") report({ kind: "ended", why });
  };

  if (tabs) tabs.onmessage = told;
  document.addEventListener("visibilitychange", seen);
  document.addEventListener("freeze", rest);
  document.addEventListener("resume", seen);
  addEventListener("pagehide", rest);
  addEventListener("pageshow", restored);
  addEventListener("online", retry);
  addEventListener("focus", look);
  addEventListener("offline", dropped);
  run();
  seen();
  tabs?.postMessage("new");
  const skipTo = (id: string): void => {
    after = id;
  };
  return { retry, skipTo, close: () => finish("closed") };
}
