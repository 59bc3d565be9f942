// One stream for all tabs of a browser: one tab reads it and tells the others. A browser has few connections to one server.
import { ticks } from "../api/clock";
import type { Frame } from "./frames";
import { follow, type Link, type LinkOptions, type LinkState } from "./link";

export interface TogetherOptions extends LinkOptions {
  /** Tabs that follow the same stream have the same name for it. */
  name: string;
  /** What a tab that comes later must know first; null while this tab does not know it. */
  greeting: () => Frame | null;
  /** Frames were missed: everything must be read again. */
  onGap: () => void;
}

type News =
  | { kind: "frame"; frame: Frame }
  | { kind: "state"; state: LinkState }
  /** A tab has come, or has come back: it has read up to here. */
  | { kind: "hello"; from: string; after: string }
  | { kind: "welcome"; to: string; greeting: Frame; state: LinkState; after: string }
  | { kind: "retry" };

/** Follows a stream together with the other tabs. A browser without locks or channels reads it in each tab. */
export function followTogether(options: TogetherOptions): Link {
  const locks = (navigator as { locks?: LockManager }).locks;
  if (!locks || typeof BroadcastChannel !== "function") return follow(options);

  const me = crypto.randomUUID();
  const channel = new BroadcastChannel(options.name);
  const tabs = new BroadcastChannel("caesura.tabs");
  let after = options.after;
  let state: LinkState = { kind: "connecting" };
  let link: Link | null = null;
  /** Set while this tab reads the stream or waits for its turn to read it. */
  let candidate: AbortController | null = null;
  let restTimer: ReturnType<typeof setTimeout> | undefined;
  let closed = false;

  /** Each tab has its own ticks: another one is told how long the next try is away. */
  const away = (now: LinkState): LinkState => (now.kind === "lost" ? { ...now, retryAt: now.retryAt - ticks() } : now);
  const tell = (news: News): void => channel.postMessage(news);
  const take = (frame: Frame): void => {
    if (frame.id) after = frame.id;
    options.onFrame(frame);
  };
  const hear = (told: LinkState): void => learn(told.kind === "lost" ? { ...told, retryAt: told.retryAt + ticks() } : told);
  const learn = (now: LinkState): void => {
    state = now;
    options.onState(now);
  };

  const lead = (signal: AbortSignal): Promise<void> =>
    new Promise((done) => {
      link = follow({
        ...options,
        after,
        rest: null,
        onFrame: (frame) => {
          take(frame);
          tell({ kind: "frame", frame });
        },
        onState: (now) => {
          learn(now);
          tell({ kind: "state", state: away(now) });
          if (now.kind === "ended") done();
        },
      });
      signal.addEventListener("abort", () => {
        link?.close();
        link = null;
        done();
      });
    });

  const join = (): void => {
    if (closed || candidate) return;
    const abort = new AbortController();
    candidate = abort;
    tell({ kind: "hello", from: me, after });
    // The signal of a request only ends the waiting: who reads ends by itself.
    void locks.request(options.name, { signal: abort.signal }, () => (abort.signal.aborted ? undefined : lead(abort.signal))).catch(() => undefined);
  };
  const withdraw = (): void => {
    clearTimeout(restTimer);
    candidate?.abort();
    candidate = null;
  };

  const receive = (news: News): void => {
    if (news.kind === "hello") {
      const greeting = link ? options.greeting() : null;
      if (greeting) tell({ kind: "welcome", to: news.from, greeting, state: away(state), after });
    } else if (news.kind === "retry") link?.retry();
    else if (link) return;
    else if (news.kind === "frame") take(news.frame);
    else if (news.kind === "state") hear(news.state);
    else if (news.to === me) welcome(news);
  };
  const welcome = (news: Extract<News, { kind: "welcome" }>): void => {
    const missed = after !== "" && after !== news.after;
    take(news.greeting);
    after = news.after;
    hear(news.state);
    if (missed) options.onGap();
  };

  const seen = (): void => {
    clearTimeout(restTimer);
    if (!document.hidden) join();
    else if (options.rest !== null) restTimer = setTimeout(withdraw, options.rest);
  };
  const restored = (event: PageTransitionEvent): void => {
    if (event.persisted) join();
  };

  channel.onmessage = ({ data }: MessageEvent<News>) => receive(data);
  // A tab that nobody sees leaves the stream to one that is seen. It still hears what that one tells.
  tabs.onmessage = ({ data }) => {
    if (data === "new" && !document.hidden) tabs.postMessage("seen");
    if (data === "seen" && document.hidden && options.rest !== null) withdraw();
  };
  document.addEventListener("visibilitychange", seen);
  document.addEventListener("freeze", withdraw);
  document.addEventListener("resume", seen);
  addEventListener("pagehide", withdraw);
  addEventListener("pageshow", restored);
  join();
  seen();
  tabs.postMessage(document.hidden ? "new" : "seen");

  return {
    retry: () => {
      if (link) link.retry();
      else tell({ kind: "retry" });
    },
    close: () => {
      closed = true;
      withdraw();
      channel.close();
      tabs.close();
      document.removeEventListener("visibilitychange", seen);
      document.removeEventListener("freeze", withdraw);
      document.removeEventListener("resume", seen);
      removeEventListener("pagehide", withdraw);
      removeEventListener("pageshow", restored);
    },
  };
}
