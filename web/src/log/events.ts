// The events of a turn as the native API sends them: docs/native.md, docs/protocol.md.
import type { Interrupt, Usage } from "../api/types";

export interface ToolCall {
  id: string;
  name: string;
  args: Record<string, unknown>;
}

interface Timed {
  at: number;
}

export type Cause = "start" | "resume" | "adopt" | "retry" | "close";
export type StopReason = "user" | "disconnect" | "superseded" | "timeout";
export type ToolStatus = "ok" | "error" | "refused" | "answered" | "not_done" | "unknown";
export type CloseOutcome = "answered" | "expired" | "superseded" | "cancelled";

export interface EventData {
  run_started: Timed & { agent: string; segment: number; cause: Cause; epoch: number; changed?: boolean };
  model_started: Timed & { call: number; agent: string; model: string; parent: string | null; ref: string; context_from?: string | null };
  text_delta: { call: number; text: string };
  reasoning_delta: { call: number; text: string };
  call_delta: { call: number; index: number; text: string; name: string };
  text_voided: Timed & { call: number };
  model_finished: Timed & { call: number; tool_calls: ToolCall[]; usage: Usage | null; finish_reason: string | null; thought_ms?: number | null };
  tool_started: Timed & { id: string; name: string; args: Record<string, unknown>; agent: string; parent: string | null };
  tool_progress: Timed & { id: string; text: string };
  tool_finished: Timed & { id: string; name: string; output: string; status: ToolStatus; agent: string; parent: string | null };
  /** What a graph writes for a front end of its own: this page shows nothing of it. */
  graph_wrote: Timed & { value: unknown; agent: string; parent: string | null };
  title_changed: Timed & { title: string };
  artifact_changed: Timed & { id: string; version: number; update_type: string; agent: string; parent: string | null };
  interrupted: Timed & { interrupts: Interrupt[] };
  interrupt_closed: Timed & { id: string; outcome: CloseOutcome; answer: Record<string, unknown>; message: string | null };
  finished: Timed;
  failed: Timed & { message: string; code: string; error_id: string | null; retryable: boolean };
  stopped: Timed & { reason: StopReason };
  segment_ended: Timed;
}

export type EventName = keyof EventData;

/** An event in its place: `id` is its cursor. */
export type LogEvent = { [Name in EventName]: { id: number; name: Name; data: EventData[Name] } }[EventName];

/** What a newer server may send: a name that this page does not know. */
export interface UnknownEvent {
  id: number;
  name: string;
  data: unknown;
}

const NAMES: Record<EventName, true> = {
  run_started: true,
  model_started: true,
  text_delta: true,
  reasoning_delta: true,
  call_delta: true,
  text_voided: true,
  model_finished: true,
  tool_started: true,
  tool_progress: true,
  tool_finished: true,
  graph_wrote: true,
  title_changed: true,
  artifact_changed: true,
  interrupted: true,
  interrupt_closed: true,
  finished: true,
  failed: true,
  stopped: true,
  segment_ended: true,
};

export function isKnown(event: UnknownEvent): event is LogEvent {
  return Object.hasOwn(NAMES, event.name) && typeof event.data === "object" && event.data !== null;
}

const ATTEMPT = 16_777_216;

/** The number of the event in its turn: 1, 2, 3, … */
export function numberOf(cursor: number): number {
  return cursor % ATTEMPT;
}

/** The attempt that the event belongs to: after a crash a turn goes on in a new one. */
export function attemptOf(cursor: number): number {
  return Math.floor(cursor / ATTEMPT);
}
