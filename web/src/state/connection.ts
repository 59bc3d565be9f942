// Whether the page hears from the server. Every stream reports here; the keep line tells.
import { create } from "zustand";

import { onHeard } from "../api/client";
import { ticks } from "../api/clock";
import type { Link, LinkState } from "../stream/link";

interface Connection {
  /** The tick of the next try, while the connection is lost. Zero: it is under way. */
  lost: { retryAt: number } | null;
  /** How many words came after the connection was back. */
  back: { words: number } | null;
  /** The server answers requests, and the streams that are lost stay silent. */
  held: boolean;
  /** A moment ago the server could not store what it was told. */
  full: boolean;
}

/** Milliseconds: a shorter loss is not worth a word. */
const BLINK = 800;
const BACK = 6000;
/** So many silent tries in a row are no accident. */
export const SILENT = 3;

export const useConnection = create<Connection>()(() => ({ lost: null, back: null, held: false, full: false }));

export type Name = "feed" | "turn";
const links = new Map<Name, Link>();
const lost = new Map<Name, number>();
let silence: (name: Name) => void = () => undefined;
let blink: ReturnType<typeof setTimeout> | undefined;
let backUntil: ReturnType<typeof setTimeout> | undefined;

function show(): void {
  clearTimeout(blink);
  blink = undefined;
  if (lost.size === 0) return;
  clearTimeout(backUntil);
  useConnection.setState({ lost: { retryAt: Math.min(...lost.values()) }, back: null });
}

/** Notes what a stream reports. Returns true when its connection is back after a loss that was shown. */
export function report(name: Name, state: LinkState): boolean {
  const wasShown = useConnection.getState().lost !== null;
  if (state.kind === "lost") {
    lost.set(name, state.retryAt);
    if (state.silent >= (useConnection.getState().held ? 1 : SILENT)) silence(name);
    if (wasShown) show();
    else blink ??= setTimeout(show, BLINK);
    return false;
  }
  if (state.kind === "connecting") {
    if (lost.has(name)) lost.set(name, 0);
    if (wasShown) show();
    return false;
  }
  // "crowded" is no loss: other windows are heard, and this one has its turn soon.
  lost.delete(name);
  if (lost.size > 0) return false;
  clearTimeout(blink);
  blink = undefined;
  if (!wasShown) return false;
  useConnection.setState({ lost: null, held: false });
  caughtUp(0);
  return true;
}

/** Called after a try of a stream that ended in silence, if there were several. */
export function onSilence(listener: (name: Name) => void): void {
  silence = listener;
}

/** Whether the server answers while a stream is silent. */
export function noteHeld(answered: boolean): void {
  const held = answered && lost.size > 0;
  if (held !== useConnection.getState().held) useConnection.setState({ held });
}

/** Words that came after the connection was back. */
export function caughtUp(words: number): void {
  clearTimeout(backUntil);
  useConnection.setState((state) => ({ back: { words: (state.back?.words ?? 0) + words } }));
  backUntil = setTimeout(() => useConnection.setState({ back: null }), BACK);
}

/** None of the words that came after the connection was back count any more. */
export function recount(): void {
  useConnection.setState((state) => ({ back: state.back && { words: 0 } }));
}

export function hold(name: Name, link: Link | null): void {
  if (link) links.set(name, link);
  else {
    links.delete(name);
    lost.delete(name);
    if (lost.size === 0) {
      clearTimeout(blink);
      blink = undefined;
      if (useConnection.getState().lost) useConnection.setState({ lost: null, held: false });
    }
  }
}

export function tryNow(): void {
  for (const link of links.values()) link.retry();
}

/** Milliseconds between two tries because the server was heard. */
const EAGER = 3000;

/** A request was answered: a stream that waits for its next try need not wait. */
export function followRequests(): void {
  let last = -Infinity;
  onHeard(() => {
    // A stream that is held back would only be tried more often than it waits.
    if (lost.size === 0 || useConnection.getState().held || ticks() - last < EAGER) return;
    last = ticks();
    tryNow();
  });
}

/** Words, or characters where there are no blanks between words. */
export function countWords(text: string): number {
  return text.match(/\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|[\p{L}\p{N}]+/gu)?.length ?? 0;
}
