// What a turn looks like, from its log: the blocks of an answer in the order in which they are read.
import type { Interrupt, Note } from "../api/types";
import type { ToolCall } from "./events";
import { grantKey, grantsOf } from "./grants";
import { endingOf, isLive, type ClosedAsk, type Draft, type LogMessage, type RunningCall, type TurnLog, type WrittenCall } from "./turn";

export type ToolState = "writing" | "next" | "running" | "ok" | "error" | "refused" | "answered" | "not_done" | "unknown";

export interface ToolView {
  /** The same from its first word to its result. */
  key: string;
  id: string;
  name: string;
  args: Record<string, unknown>;
  /** The arguments that the model gave, if a person has edited them. */
  wanted: Record<string, unknown> | null;
  state: ToolState;
  output: string | null;
  ms: number | null;
  /** When a running call began, if that is known. */
  since: number | null;
  /** What a running call does now, if it tells. */
  progress: string | null;
  /** Nobody was asked: the person had allowed the tool for the rest of the branch. */
  granted: boolean;
  /** What the person was asked by it, and answered. */
  answers: Note["answers"];
}

/** A question for which the turn paused, with the call that it was about. */
export interface Answered {
  note: Note;
  tool: ToolCall | null;
  closed: ClosedAsk | null;
}

/** How far the person had read when they left: so many messages, and of the next one so many characters. */
export interface Left {
  messages: number;
  characters: number;
}

export type Block =
  /** `ms`: how long the model thought, if that is known. */
  | { kind: "thinking"; key: string; text: string; live: boolean; ms: number | null }
  /** `left`: the person had read so many characters of it when they left; null if they left elsewhere. */
  | { kind: "text"; key: string; text: string; live: boolean; left: number | null }
  | { kind: "tools"; key: string; tools: ToolView[] }
  /** `waits`: it, or a sub-agent of its own, has asked the person. */
  | { kind: "agent"; key: string; tool: ToolView; inner: Block[]; waits: boolean }
  | { kind: "said"; key: string; text: string }
  | { kind: "note"; key: string; note: Note; pauses: Answered[] }
  | { kind: "ask"; key: string; interrupts: Interrupt[] }
  | { kind: "mark"; key: string };

interface Place {
  log: TurnLog;
  parent: string | null;
  results: Map<string, LogMessage>;
  /** The calls that open a sub-agent. */
  agents: ReadonlySet<string>;
  read: Left | null;
  /** The tools that are always allowed to an agent, as `grantKey` writes them. */
  grants: ReadonlySet<string>;
}

const NO_GRANTS: ReadonlySet<string> = new Set();

/** `names` are the names of agents: a call of one of them is a sub-agent at work. */
export function blocks(log: TurnLog, names: ReadonlySet<string>, read: Left | null = null, before: ReadonlySet<string> = NO_GRANTS): Block[] {
  const results = new Map<string, LogMessage>();
  const agents = new Set<string>();
  for (const message of log.finished) {
    if (message.role === "tool" && message.tool_call_id) results.set(message.tool_call_id, message);
    if (message.parent) agents.add(message.parent);
    for (const call of message.tool_calls) if (names.has(call.name)) agents.add(call.id);
  }
  for (const { parent } of [...log.drafts, ...log.running, ...log.pending]) if (parent) agents.add(parent);
  const own = grantsOf(log);
  const grants = own.length > 0 ? new Set([...before, ...own]) : before;
  return level({ log, parent: null, results, agents, read, grants });
}

/** The blocks of the agent itself (`parent` is null) or of one sub-agent. */
function level(place: Place): Block[] {
  const { log, parent } = place;
  const found: Block[] = [];
  const ending = endingOf(log);
  // How the turn ended is told below the answer, and a pause that goes on by its question.
  const notes = parent === null ? log.notes.filter((note) => note !== ending && !(note.kind === "pause" && note.outcome === null)) : [];
  let noted = 0;
  let left = parent === null ? place.read : null;
  /** Draws what is before this message. Returns how many characters of it were read, if the person left in it. */
  const before = (index: number, text: string): number | null => {
    while (notes[noted] && (notes[noted] as Note).after <= index) push(found, noteBlock(log, notes[noted] as Note, noted++));
    if (left === null || left.messages > index) return null;
    const { characters } = left;
    left = null;
    if (characters > 0 && text !== "") return characters;
    found.push(MARK);
    return null;
  };
  log.finished.forEach((message, index) => {
    if ((message.parent ?? null) !== parent) return;
    if (message.role === "tool") return;
    const inside = before(index, message.role === "assistant" ? message.content : "");
    spoken(place, found, message, message.call !== null ? `c${message.call}` : `m${index}`, inside);
  });
  const own = log.drafts.filter((draft) => draft.parent === parent);
  const inside = before(log.finished.length, own[0]?.text ?? "");
  own.forEach((draft, index) => drafted(found, draft, log.status === "running", index === 0 ? inside : null));
  asks(place, found);
  return found;
}

const MARK: Block = { kind: "mark", key: "mark" };

function spoken(place: Place, found: Block[], message: LogMessage, key: string, left: number | null): void {
  if (message.role === "user") {
    found.push({ kind: "said", key, text: message.content });
    return;
  }
  if (message.reasoning) found.push({ kind: "thinking", key: `${key}r`, text: message.reasoning, live: false, ms: message.ms ?? null });
  if (message.content.trim()) written(found, key, message.content, false, left);
  message.tool_calls.forEach((call, index) => called(place, found, call, message.call !== null ? `${message.call}.${index}` : call.id, message.agent));
}

/** A text, with the mark after it if all of it was read. */
function written(found: Block[], key: string, text: string, live: boolean, left: number | null): void {
  const whole = left !== null && left >= text.trimEnd().length;
  found.push({ kind: "text", key, text, live, left: whole ? null : left });
  if (whole) found.push(MARK);
}

function drafted(found: Block[], draft: Draft, running: boolean, left: number | null): void {
  const key = `c${draft.call}`;
  const speaks = draft.text !== "";
  if (draft.reasoning) found.push({ kind: "thinking", key: `${key}r`, text: draft.reasoning, live: running && !speaks, ms: null });
  // A text is over when a call begins.
  if (speaks) written(found, key, draft.text, running && draft.calls.length === 0, left);
  for (const call of running ? draft.calls : []) tooled(found, unfinished(draft, call));
}

function called(place: Place, found: Block[], call: ToolCall, key: string, agent: string): void {
  const { log } = place;
  if (log.pending.some((item) => item.tool_call_id === call.id) && !place.agents.has(call.id)) return;
  const tool = toolView(place, call, key, agent);
  if (place.agents.has(call.id)) {
    const inner = level({ ...place, parent: call.id });
    const waits = log.pending.some((item) => item.parent === call.id) || inner.some((item) => item.kind === "agent" && item.waits);
    found.push({ kind: "agent", key: `a${call.id}`, tool, inner, waits });
    return;
  }
  tooled(found, tool);
}

function tooled(found: Block[], tool: ToolView): void {
  const last = found.at(-1);
  if (last?.kind === "tools") last.tools.push(tool);
  else found.push({ kind: "tools", key: `t${tool.key}`, tools: [tool] });
}

/** A call that the model still writes. It has no id yet. */
function unfinished({ call }: Draft, { index, name, members }: WrittenCall): ToolView {
  const key = `${call}.${index}`;
  return { key, id: key, name, args: members.values, wanted: null, state: "writing", output: null, ms: null, since: null, progress: null, granted: false, answers: null };
}

/** What the server says of a call that has no result when its turn ends. A snapshot has it; no event brings it. */
export const NOT_DONE = "Not done: the turn ended before this call was made.";
const UNKNOWN = "Unknown: the turn ended while this call was under way; it may or may not have taken effect.";

function toolView({ log, results, grants }: Place, { id, name, args }: ToolCall, key: string, agent: string): ToolView {
  const result = results.get(id);
  const begun = log.running.find((item) => item.id === id);
  const state: ToolState = result ? (isDeclined(log, id, result) ? "refused" : (result.status as ToolState)) : isLive(log.status) ? (begun ? "running" : "next") : begun ? "unknown" : "not_done";
  const edited = (begun?.edited ? begun.args : null) ?? result?.args ?? null;
  const missing = state === "not_done" ? NOT_DONE : state === "unknown" ? UNKNOWN : null;
  const output = result?.content ?? missing;
  const pause = log.notes.findLast((note) => note.tool_call_id === id);
  const granted = !pause && (state === "ok" || state === "running") && grants.has(grantKey(agent, name));
  return { key, id, name, granted, answers: pause?.answers ?? null, args: edited ?? args, wanted: edited === null ? null : args, state, output, ...times(log.notes, result, begun), progress: begun?.progress ?? null };
}

/** How long a call took, or since when it runs, without the time in which the turn waited for the person: nothing runs meanwhile. */
function times(notes: readonly Note[], result: LogMessage | undefined, begun: RunningCall | undefined): Pick<ToolView, "ms" | "since"> {
  const start = result?.at != null && result.ms != null ? result.at - result.ms : null;
  return {
    ms: result?.ms != null && start !== null ? result.ms - paused(notes, start, result.at as number) : (result?.ms ?? null),
    since: begun?.at != null ? begun.at + paused(notes, begun.at, Infinity) : null,
  };
}

/** The milliseconds between two times in which the turn waited. Questions that were asked at once waited together. */
function paused(notes: readonly Note[], from: number, to: number): number {
  let sum = 0;
  let until = from;
  const pauses = notes.flatMap(({ kind, at, ms }) => (kind === "pause" && at !== null && ms !== null ? [[at, at + ms] as const] : []));
  for (const [start, end] of pauses.sort(([one], [other]) => one - other)) {
    const [first, last] = [Math.max(start, until), Math.min(end, to)];
    if (last <= first) continue;
    sum += last - first;
    until = last;
  }
  return sum;
}

/** Whether the person refused to answer what this call asked. */
function isDeclined({ notes }: TurnLog, id: string, { status, name }: LogMessage): boolean {
  return status === "ok" && name === "ask_user" && notes.findLast((note) => note.tool_call_id === id)?.outcome === "reject";
}

/** One question of a sub-agent is drawn under its call; several questions are one card at the end. */
function asks({ log, parent }: Place, found: Block[]): void {
  const { pending } = log;
  const single = pending.length === 1 ? pending[0] : undefined;
  if (single ? (single.parent ?? null) === parent : parent === null && pending.length > 1) {
    found.push({ kind: "ask", key: "ask", interrupts: pending });
  }
}

function noteBlock(log: TurnLog, note: Note, index: number): Block {
  const closed = note.interrupt_id ? (log.closed.find((item) => item.interrupt.id === note.interrupt_id) ?? null) : null;
  return { kind: "note", key: `n${index}`, note, pauses: note.kind === "pause" ? [{ note, tool: callOf(log, note), closed }] : [] };
}

/** The call of a pause, as it was made: with the arguments of the person, if they changed them. */
function callOf({ finished, running }: TurnLog, { tool_call_id: id }: Note): ToolCall | null {
  const call = id && finished.flatMap((message) => message.tool_calls).find((item) => item.id === id);
  if (!call) return null;
  const begun = running.find((item) => item.id === id);
  const edited = (begun?.edited ? begun.args : null) ?? finished.find((message) => message.tool_call_id === id)?.args;
  return edited ? { ...call, args: edited } : call;
}

/** Pauses that ended together are one line. */
function push(found: Block[], block: Block): void {
  const last = found.at(-1);
  if (block.kind === "note" && last?.kind === "note" && together(last.note, block.note)) {
    const longer = (block.note.ms ?? 0) > (last.note.ms ?? 0) ? block : last;
    found[found.length - 1] = { ...longer, key: last.key, pauses: [...last.pauses, ...block.pauses] };
    return;
  }
  found.push(block);
}

/** Questions that were asked at once. One that nobody answered has a card of its own. */
function together(one: Note, other: Note): boolean {
  if (one.kind !== "pause" || other.kind !== "pause" || one.after !== other.after) return false;
  return one.outcome === other.outcome || (one.at === other.at && one.outcome !== "expired" && other.outcome !== "expired");
}

/** The text of an answer, as it is copied. */
export function answerText(log: TurnLog): string {
  const own = [...log.finished, ...log.drafts.map((draft) => ({ role: "assistant", parent: draft.parent, content: draft.text }))];
  return own
    .filter((message) => message.role === "assistant" && (message.parent ?? null) === null && message.content.trim())
    .map((message) => message.content.trim())
    .join("\n\n");
}
