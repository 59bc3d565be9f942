import type { ReactNode } from "react";

import type { ApiError } from "../api/client";
import { ticks } from "../api/clock";
import type { Interrupt } from "../api/types";
import { tryNow, useConnection } from "../state/connection";
import { nameOf, useAway, useUnstored } from "../state/drafts";
import { useThread } from "../state/thread";
import { refusalText, sentence } from "../words/faults";
import { useWords, type Words } from "../words/words";
import { Bars, Icon } from "./Icon";
import { useNow } from "./useNow";

type KeepKind = "idle" | "running" | "leaving" | "waiting" | "lost" | "back" | "stopped" | "failed" | "sending" | "fault";

interface Told {
  kind: KeepKind;
  text: string;
}

/** The one line that always says what is safe. */
export function Keep({ id, empty }: { id: string | null; empty: boolean }) {
  const words = useWords();
  const { say } = words;
  const told = useTruth(id, words);
  const live = told.kind === "running" || told.kind === "lost" || told.kind === "back" || told.kind === "leaving";
  return (
    <p className={`keep ${told.kind}`} role="status" aria-live="off">
      <KeepTold told={told} />
      <span className="grow" />
      {live || empty ? null : (
        <span className="hint">
          <kbd>↵</kbd> {say("send")}
        </span>
      )}
    </p>
  );
}

/** The same line where nothing is written: it tells only of the connection. */
export function KeepConnection() {
  const words = useWords();
  const told = useConnectionTold(words);
  return (
    <p className={`keep ${told?.kind ?? ""}`} role="status" aria-live="off">
      {told ? <KeepTold told={told} /> : null}
    </p>
  );
}

function KeepTold({ told }: { told: Told }) {
  const { say } = useWords();
  return (
    <>
      <span className="sign">{SIGNS[told.kind] ?? <Bars />}</span>
      <span>{told.text}</span>
      {told.kind === "lost" ? (
        <button type="button" onClick={tryNow}>
          {say("tryNow")}
        </button>
      ) : null}
    </>
  );
}

const SIGNS: Partial<Record<KeepKind, ReactNode>> = {
  running: <i className="live" />,
  leaving: <i className="live" />,
  sending: <i className="live" />,
  back: <Icon name="check" small />,
  fault: <Icon name="cross" small />,
  lost: "",
};

/** What a browser stores nothing of is not safe, whatever else is. */
function useTruth(id: string | null, words: Words): Told {
  const told = useTold(id, words);
  const lossy = useUnstored((state) => state.lossy);
  if (!lossy) return told;
  const text = words.say("keepUnstored");
  if (told.kind === "lost") return { ...told, text: `${words.say("connectionLost")}. ${text}` };
  return { kind: "fault", text: told.kind === "fault" ? `${told.text} ${text}` : text };
}

/** That the connection is lost, or back again; null if there is nothing to tell. */
function useConnectionTold({ say, count }: Words): Told | null {
  const { lost, back, held } = useConnection();
  const now = useNow(lost !== null);
  if (lost && held) return { kind: "lost", text: say("keepHeld") };
  if (lost) {
    const seconds = Math.ceil((lost.retryAt - ticks()) / 1000);
    return { kind: "lost", text: now && seconds > 0 ? say("keepLost", seconds) : `${say("connectionLost")}. ${say("keepConnecting")}…` };
  }
  return back && { kind: "back", text: back.words > 1 ? say("keepBack", count(back.words)) : say("connectionBack") };
}

function useTold(id: string | null, words: Words): Told {
  const { say } = words;
  const connection = useConnectionTold(words);
  const full = useConnection((state) => state.full);
  const here = useThread((state) => state.id === id);
  const away = useAway((state) => state[nameOf(id)] !== undefined);
  const sending = useThread((state) => state.id === id && state.sending !== null) || away;
  const fault = useThread((state) => (state.id === id ? state.fault : null));
  const status = useThread((state) => (state.id === id ? state.entries.at(-1)?.log.status : undefined));
  const leaves = useThread((state) => state.entries.at(-1)?.turn.on_disconnect === "stop");
  const until = useThread((state) => (state.id === id ? firstEnd(state.entries.at(-1)?.log.pending ?? []) : null));
  const own = ownOf(sending, fault, full, words);
  // Both are told: what was not sent, and when the next try is.
  if (own && connection) return { kind: connection.kind === "lost" ? "lost" : own.kind, text: [sentence(connection.text), own.text].join(" ") };
  if (own ?? connection) return (own ?? connection) as Told;
  if (!here) return { kind: "idle", text: say("keepIdle") };
  switch (status) {
    case "queued":
      return { kind: "running", text: say("keepQueued") };
    case "running":
      return leaves ? { kind: "leaving", text: say("keepLeaving") } : { kind: "running", text: say("keepRunning") };
    case "waiting":
      return { kind: "waiting", text: until === null ? say("keepWaiting") : say("keepWaitingUntil", words.clock(until)) };
    case "stopped":
      return { kind: "stopped", text: say("keepStopped") };
    case "failed":
      return { kind: "failed", text: say("keepFailed") };
    default:
      return { kind: "idle", text: say("keepIdle") };
  }
}

/** What became of the message in the box, or that none could be taken. */
function ownOf(sending: boolean, fault: ApiError | null, full: boolean, words: Words): Told | null {
  if (sending) return { kind: "sending", text: words.say("keepSending") };
  if (fault) return { kind: "fault", text: faultText(fault, words) };
  return full ? { kind: "fault", text: words.say("serverDown") } : null;
}

/** When the first of these questions expires; null if none does. */
function firstEnd(pending: readonly Interrupt[]): number | null {
  const ends = pending.flatMap((item) => item.expires_at ?? []);
  return ends.length > 0 ? Math.min(...ends) : null;
}

function faultText(fault: ApiError, words: Words): string {
  if (fault.code === "unreachable") return words.say("undone");
  if (fault.status === 503 || fault.status === 500) return words.say("serverDown");
  if (fault.unreachable || fault.code === "run_in_progress") return refusalText(fault, words);
  return words.say("notSent", refusalText(fault, words));
}
