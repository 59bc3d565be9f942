// The documents that agents are writing, from the first word until their versions are known.
import { whole } from "./members";
import { isLive, type TurnLog } from "./turn";

/** A document that is being written, as far as its words have arrived. Of a new one the title and the type come with them. */
export interface WrittenDocument {
  id: string;
  title: string | null;
  type: string | null;
  content: string;
}

const WRITES: ReadonlySet<string> = new Set(["create_artifact", "rewrite_artifact"]);

/** `versions` are the newest versions that this page knows: a document counts as written until it is one of them. */
export function writtenDocuments(log: TurnLog, versions: ReadonlyMap<string, number>): WrittenDocument[] {
  const found = new Map<string, WrittenDocument>();
  const put = (document: WrittenDocument | null) => document && found.set(document.id, document);
  const working = isLive(log.status) && log.status !== "waiting";
  const results = new Map(log.finished.flatMap((message) => (message.role === "tool" ? [[message.tool_call_id, message.status] as const] : [])));
  const unknown = new Set(log.documents.filter((change) => change.version > (versions.get(change.id) ?? 0)).map((change) => change.id));
  for (const call of log.finished.flatMap((message) => message.tool_calls)) {
    if (!WRITES.has(call.name)) continue;
    const result = results.get(call.id);
    const document = ofArguments(log.running.find((item) => item.id === call.id)?.args ?? call.args);
    if (document && (result === undefined ? working : result === "ok" && unknown.has(document.id))) put(document);
  }
  for (const { name, members } of working ? log.drafts.flatMap((draft) => draft.calls) : []) {
    const id = whole(members, "id");
    const { content } = members.values;
    if (WRITES.has(name) && id && content !== undefined) put({ id, title: whole(members, "title"), type: whole(members, "content_type"), content });
  }
  return [...found.values()];
}

function ofArguments({ id, title, content_type: type, content }: Record<string, unknown>): WrittenDocument | null {
  if (typeof id !== "string" || typeof content !== "string") return null;
  return { id, title: typeof title === "string" ? title : null, type: typeof type === "string" ? type : null, content };
}
