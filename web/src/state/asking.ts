// Which pages live, where a browser has no locks: the pages ask each other.
import { isHeld, locksOf, onAsk } from "./living";

const NAME = "caesura.page";
/** Milliseconds within which a living page answers. */
const PATIENCE = 1000;

type News = { asked: string } | { lives: string };

/** Answers the others, and asks them. */
export function followAsking(): () => void {
  if (locksOf() || typeof BroadcastChannel !== "function") return () => undefined;
  let channel: BroadcastChannel | null = null;
  const open = (): void => {
    const opened = (channel ??= new BroadcastChannel(NAME));
    opened.onmessage = ({ data }: MessageEvent<News>) => {
      if ("asked" in data && isHeld(data.asked)) opened.postMessage({ lives: data.asked } satisfies News);
    };
  };
  // A page that the browser has put away counts as closed.
  const close = (): void => {
    channel?.close();
    channel = null;
  };
  addEventListener("pagehide", close);
  addEventListener("pageshow", open);
  open();
  onAsk(ask);
  return () => {
    close();
    removeEventListener("pagehide", close);
    removeEventListener("pageshow", open);
  };
}

function ask(page: string): Promise<boolean> {
  const channel = new BroadcastChannel(NAME);
  return new Promise((found) => {
    const end = (lives: boolean): void => {
      clearTimeout(timer);
      channel.close();
      found(lives);
    };
    const timer = setTimeout(() => end(false), PATIENCE);
    channel.onmessage = ({ data }: MessageEvent<News>) => {
      if ("lives" in data && data.lives === page) end(true);
    };
    channel.postMessage({ asked: page } satisfies News);
  });
}
