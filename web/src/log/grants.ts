// The tools that a person has allowed for the rest of a branch, as a log tells it.
import type { TurnLog } from "./turn";

/** A tool that is always allowed to an agent. */
export const grantKey = (agent: string, tool: string): string => `${agent} ${tool}`;

/** The tools that the person has allowed in this turn, as `grantKey` writes them. */
export function grantsOf({ notes, finished }: TurnLog): string[] {
  if (!notes.some((note) => note.always)) return [];
  const owners = new Map(finished.flatMap((message) => message.tool_calls.map((call) => [call.id, message.agent] as const)));
  return notes.flatMap(({ always, tool, tool_call_id: id }) => (always && tool && id ? [grantKey(owners.get(id) ?? "", tool)] : []));
}
