// The state of a turn as a snapshot has it: the events after its cursor continue it.
import type { SeenTurn } from "../api/types";
import { numberOf, type ToolCall } from "./events";
import { NO_MEMBERS, read } from "./members";
import { EMPTY, isEdited, isLive, type Draft, type LogMessage, type TurnLog } from "./turn";

export function fromSnapshot(turn: SeenTurn): TurnLog {
  const live = isLive(turn.status);
  const finished: LogMessage[] = [];
  const drafts: Draft[] = [];
  for (const message of turn.messages) {
    const call = message.call ?? null;
    if (live && call !== null && message.cut) {
      drafts.push({ call, agent: message.agent, parent: message.parent ?? null, text: message.content, reasoning: message.reasoning, calls: [], at: null });
    } else {
      finished.push({ ...message, tool_calls: message.tool_calls as unknown as ToolCall[], call });
    }
  }
  for (const { call, index, name, text, agent, parent } of live ? turn.writing_tools : []) {
    const known = drafts.find((draft) => draft.call === call);
    const draft = known ?? { call, agent, parent, text: "", reasoning: "", calls: [], at: null };
    if (!known) drafts.push(draft);
    draft.calls.push({ index, name, members: read(NO_MEMBERS, text) });
  }
  return {
    ...EMPTY,
    seq: numberOf(turn.cursor),
    cursor: turn.cursor,
    status: turn.status,
    finished,
    drafts,
    running: turn.running_tools.map((tool) => ({ at: null, ...tool, edited: isEdited(finished, tool.id, tool.args) })),
    pending: turn.interrupts,
    notes: turn.notes,
    documents: turn.artifacts ?? [],
    endedAt: turn.ended_at,
    usage: turn.usage,
    model: turn.model,
  };
}
