// What the log of a turn says, built event by event. Pure: the same events always give the same state.
import type { Interrupt, Message, Note, TurnStatus, Usage } from "../api/types";
import { NO_MEMBERS, read, type Members } from "./members";
import { sameJson } from "./same";
import { isKnown, numberOf, type CloseOutcome, type EventData, type LogEvent, type ToolCall, type UnknownEvent } from "./events";

/** A message that has ended. `call` is the model call that made it, where this page knows it. */
export type LogMessage = Omit<Message, "tool_calls" | "call"> & {
  tool_calls: ToolCall[];
  call: number | null;
};

/** A tool call that a model is writing, the `index`th of its reply: its arguments as far as they have arrived. */
export interface WrittenCall {
  index: number;
  name: string;
  members: Members;
}

/** A model call that has not finished. */
export interface Draft {
  call: number;
  agent: string;
  parent: string | null;
  text: string;
  reasoning: string;
  calls: WrittenCall[];
  at: number | null;
}

export interface RunningCall {
  id: string;
  name: string;
  args: Record<string, unknown>;
  /** The arguments are not those that the model gave: a person has edited them. */
  edited: boolean;
  agent: string;
  parent: string | null;
  /** What it does now, if it tells. */
  progress: string | null;
  at: number | null;
}

/** A question that was closed while this page looked on. */
export interface ClosedAsk {
  interrupt: Interrupt;
  outcome: CloseOutcome;
  answer: Record<string, unknown>;
  at: number;
}

/** A document that the turn changed, and the version that it made last. */
export interface DocumentChange {
  id: string;
  version: number;
}

export interface TurnLog {
  /** The number and the cursor of the newest event that this state includes. */
  seq: number;
  cursor: number;
  status: TurnStatus;
  finished: LogMessage[];
  drafts: Draft[];
  running: RunningCall[];
  pending: Interrupt[];
  closed: ClosedAsk[];
  notes: Note[];
  documents: DocumentChange[];
  endedAt: number | null;
  title: string | null;
  usage: Usage | null;
  model: string | null;
  /** The first turn that this model was shown; null if it was shown all. */
  contextFrom: string | null;
  /** The events do not fit what this page has: the snapshot must be read again. */
  stale: boolean;
  /** The state before the newest `run_started`: a stream may begin again there. */
  before: TurnLog | null;
}

export const EMPTY: TurnLog = {
  seq: 0,
  cursor: 0,
  status: "queued",
  finished: [],
  drafts: [],
  running: [],
  pending: [],
  closed: [],
  notes: [],
  documents: [],
  endedAt: null,
  title: null,
  usage: null,
  model: null,
  contextFrom: null,
  stale: false,
  before: null,
};

/** The state after one more event. An event that this page does not know only moves the cursor. */
export function reduce(state: TurnLog, event: UnknownEvent): TurnLog {
  const seq = numberOf(event.id);
  const base = seq === state.seq + 1 ? state : rewound(state, seq);
  const next = isKnown(event) ? applied(base, event) : base;
  return { ...next, seq, cursor: event.id };
}

/** The state right before the event with this number: what came from there on is dropped. */
function rewound(state: TurnLog, seq: number): TurnLog {
  for (let at: TurnLog | null = state; at; at = at.before) {
    if (at.seq === seq - 1) return at;
    if (at.seq < seq - 1) break;
  }
  return { ...state, stale: true };
}

function applied(state: TurnLog, event: LogEvent): TurnLog {
  switch (event.name) {
    case "text_delta":
      return said(state, event.data.call, "text", event.data.text);
    case "reasoning_delta":
      return said(state, event.data.call, "reasoning", event.data.text);
    case "call_delta":
      return writing(state, event.data);
    case "run_started":
      return begun(state, event.data);
    case "model_started": {
      const { call, agent, parent, at, model, context_from: shown } = event.data;
      const draft: Draft = { call, agent, parent, text: "", reasoning: "", calls: [], at };
      const own = parent === null ? { model: model || state.model, contextFrom: shown ?? null } : {};
      return { ...state, drafts: [...state.drafts, draft], ...own };
    }
    case "text_voided":
      return voided(state, event.data.call);
    case "model_finished":
      return spoken(state, event.data);
    case "tool_started": {
      const { id, name, args, agent, parent, at } = event.data;
      const begun: RunningCall = { id, name, args, edited: isEdited(state.finished, id, args), agent, parent, progress: null, at };
      return { ...state, running: [...state.running.filter((item) => item.id !== id), begun] };
    }
    case "tool_progress": {
      const { id, text } = event.data;
      return { ...state, running: state.running.map((item) => (item.id === id ? { ...item, progress: text } : item)) };
    }
    case "tool_finished":
      return returned(state, event.data);
    case "title_changed":
      return { ...state, title: event.data.title };
    case "artifact_changed": {
      const { id, version } = event.data;
      const known = state.documents.some((item) => item.id === id);
      const documents = known ? state.documents.map((item) => (item.id === id ? { id, version } : item)) : [...state.documents, { id, version }];
      return { ...state, documents };
    }
    case "interrupted":
      return asking(state, event.data);
    case "interrupt_closed":
      return answered(state, event.data);
    case "finished":
      return { ...state, status: "done", pending: [], endedAt: event.data.at };
    case "failed": {
      const { at, code, message, error_id } = event.data;
      return ended(state, "failed", { ...noteOf("failed", state, at), outcome: code, message, error_id });
    }
    case "stopped":
      return ended(state, "stopped", { ...noteOf("stopped", state, event.data.at), outcome: event.data.reason });
    case "graph_wrote":
    case "segment_ended":
      return state;
  }
}

/** A snapshot does not have a model call that has said nothing yet: its agent is only known from another snapshot. */
function drafting(state: TurnLog, call: number, change: (draft: Draft) => Draft): TurnLog {
  const last = state.drafts.length - 1;
  const index = state.drafts[last]?.call === call ? last : state.drafts.findIndex((draft) => draft.call === call);
  const draft = state.drafts[index];
  if (!draft) return { ...state, stale: true };
  const drafts = state.drafts.slice();
  drafts[index] = change(draft);
  return { ...state, drafts };
}

function said(state: TurnLog, call: number, field: "text" | "reasoning", text: string): TurnLog {
  return drafting(state, call, (draft) => ({ ...draft, [field]: draft[field] + text }));
}

function writing(state: TurnLog, { call, index, name, text }: EventData["call_delta"]): TurnLog {
  return drafting(state, call, (draft) => {
    const known = draft.calls.find((item) => item.index === index) ?? { index, name, members: NO_MEMBERS };
    const grown = { ...known, members: read(known.members, text) };
    return { ...draft, calls: [...draft.calls.filter((item) => item.index !== index), grown].sort((one, other) => one.index - other.index) };
  });
}

/** Whether a call runs with other arguments than the model gave. */
export function isEdited(finished: readonly LogMessage[], id: string, args: Record<string, unknown>): boolean {
  const call = finished.flatMap((message) => message.tool_calls).find((item) => item.id === id);
  return call !== undefined && !sameJson(call.args, args);
}

function begun(state: TurnLog, { cause, at }: EventData["run_started"]): TurnLog {
  const notes = cause === "adopt" ? [...state.notes, noteOf("restart", state, at)] : state.notes;
  const running = state.running.map((item) => ({ ...item, progress: null })); // what runs now runs from its beginning
  return { ...state, status: cause === "close" ? state.status : "running", running, endedAt: null, notes, before: state };
}

/** Drops what a model call said. If this page cannot know which message that was, it must read the snapshot again. */
function voided(state: TurnLog, call: number): TurnLog {
  if (state.drafts.some((draft) => draft.call === call)) return { ...state, drafts: state.drafts.filter((draft) => draft.call !== call) };
  const index = state.finished.findIndex((message) => message.call === call);
  if (index >= 0) {
    const notes = state.notes.map((note) => (note.after > index ? { ...note, after: note.after - 1 } : note));
    return { ...state, finished: state.finished.filter((_, at) => at !== index), notes };
  }
  const unsure = state.finished.some((message) => message.role === "assistant" && message.call === null);
  return unsure ? { ...state, stale: true } : state;
}

function spoken(state: TurnLog, { call, tool_calls, usage, at, thought_ms }: EventData["model_finished"]): TurnLog {
  const draft = state.drafts.find((item) => item.call === call);
  if (!draft) return { ...state, stale: true };
  const message: LogMessage = {
    ...PLAIN,
    role: "assistant",
    content: draft.text,
    reasoning: draft.reasoning,
    tool_calls,
    agent: draft.agent,
    parent: draft.parent,
    usage,
    call,
    at,
    ms: thought_ms ?? null,
  };
  return {
    ...state,
    finished: [...state.finished, message],
    drafts: state.drafts.filter((item) => item !== draft),
    usage: usage ? added(state.usage, usage) : state.usage,
  };
}

function returned(state: TurnLog, { id, name, output, status, agent, parent, at }: EventData["tool_finished"]): TurnLog {
  const begun = state.running.find((item) => item.id === id);
  const ms = begun?.at != null ? at - begun.at : null;
  const message: LogMessage = { ...PLAIN, role: "tool", content: output, tool_call_id: id, name, status, agent, parent, args: begun?.edited ? begun.args : null, at, ms };
  return { ...state, finished: [...state.finished, message], running: state.running.filter((item) => item.id !== id) };
}

function asking(state: TurnLog, { interrupts, at }: EventData["interrupted"]): TurnLog {
  const fresh = interrupts.filter(({ id }) => !state.notes.some((note) => note.interrupt_id === id));
  const notes = fresh.map(({ id, tool_call_id, kind, name }) => ({ ...noteOf("pause", state, at), interrupt_id: id, tool_call_id, asked: kind, tool: name || null }));
  // A graph of the operator tells of a call when its model asks for it: one that needs an approval has not begun.
  const waits = new Set(interrupts.filter((item) => item.kind === "approval" && !item.unknown).map((item) => item.tool_call_id));
  return { ...state, status: "waiting", pending: interrupts, running: state.running.filter(({ id }) => !waits.has(id)), notes: [...state.notes, ...notes] };
}

function answered(state: TurnLog, { id, outcome, answer, message, at }: EventData["interrupt_closed"]): TurnLog {
  const interrupt = state.pending.find((item) => item.id === id);
  const decision = outcome === "answered" && typeof answer.decision === "string" ? answer.decision : outcome;
  const given = outcome === "answered" ? answer : {};
  const always = given.always_allow === true ? true : null;
  const answers = interrupt ? answersOf(interrupt, given.answers) : null;
  // A call that only asks has done nothing.
  const undone = outcome !== "answered" && interrupt?.kind === "questions" && interrupt.name ? interrupt.tool_call_id : null;
  const over = (note: Note): Note => ({ ...note, ms: note.at === null ? null : Math.max(0, at - note.at), outcome: decision, always, answers });
  return {
    ...state,
    pending: state.pending.filter((item) => item.id !== id),
    running: state.running.filter((item) => item.id !== undone),
    closed: interrupt ? [...state.closed, { interrupt, outcome, answer, at }] : state.closed,
    notes: state.notes.map((note) => (note.interrupt_id === id && note.outcome === null ? over(note) : note)),
    finished: message ? [...state.finished, { ...PLAIN, role: "user", content: message, at }] : state.finished,
  };
}

/** The questions with their answers, in the words in which they were offered. */
function answersOf({ kind, questions }: Interrupt, given: unknown): Note["answers"] {
  if (kind !== "questions" || !Array.isArray(given) || given.length === 0) return null;
  return (given as string[]).slice(0, questions.length).map((answer, index) => {
    const { question, options = [] } = questions[index] as (typeof questions)[number];
    const chosen = options.find((option) => option.value === answer && !option.allow_custom);
    return { question, answer: chosen?.label ?? answer };
  });
}

function ended(state: TurnLog, status: TurnStatus, note: Note): TurnLog {
  return { ...state, status, pending: [], notes: [...state.notes, note], endedAt: note.at };
}

function noteOf(kind: Note["kind"], { finished }: TurnLog, at: number): Note {
  return { kind, after: finished.length, at, ms: null, outcome: null, interrupt_id: null, tool_call_id: null, message: null, error_id: null, asked: null, tool: null, always: null, answers: null };
}

/** How the turn ended, if it was stopped or has failed. */
export function endingOf({ status, notes }: TurnLog): Note | null {
  const last = notes.at(-1);
  return last && last.kind === status ? last : null;
}

function added(sum: Usage | null, more: Usage): Usage {
  const result = { ...sum };
  for (const [name, value] of Object.entries(more)) if (typeof value === "number") result[name] = (result[name] ?? 0) + value;
  return result;
}

const PLAIN: LogMessage = {
  role: "assistant",
  content: "",
  reasoning: "",
  tool_calls: [],
  tool_call_id: null,
  name: null,
  status: "ok",
  agent: "",
  parent: null,
  cut: false,
  args: null,
  usage: null,
  call: null,
};

/** The messages so far, unfinished ones last, as the person saw them. */
export function transcript(state: TurnLog): LogMessage[] {
  const drafts = state.drafts.filter((draft) => draft.text !== "" || draft.reasoning !== "");
  return [...state.finished, ...drafts.map(cut)];
}

/** An unfinished message. */
export function cut({ call, agent, parent, text, reasoning }: Draft): LogMessage {
  return { ...PLAIN, content: text, reasoning, agent, parent, call, cut: true };
}

export function isLive(status: TurnStatus): boolean {
  return status === "queued" || status === "running" || status === "waiting";
}
