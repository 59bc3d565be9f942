import { useMemo } from "react";

import { shownLine } from "../log/shown";
import type { TurnLog } from "../log/turn";
import { writtenDocuments } from "../log/written";
import { useThread, versionsOf } from "../state/thread";
import { openDocument, useView } from "../state/view";
import { useWords } from "../words/words";
import { Icon } from "./Icon";

const WRITES = new Set(["create_artifact", "update_artifact", "rewrite_artifact"]);

/** The documents that a turn has written, each with the version that the turn made last. A turn that ended under an older
 * version of the server does not tell the versions. */
function documentsOf(log: TurnLog): [string, number | null][] {
  if (log.documents.length > 0) return log.documents.map(({ id, version }) => [id, version]);
  const done = new Set(log.finished.filter((message) => message.role === "tool" && message.status === "ok").map((message) => message.tool_call_id));
  const calls = log.finished.flatMap((message) => message.tool_calls).filter((call) => WRITES.has(call.name) && done.has(call.id));
  return [...new Set(calls.flatMap(({ args }) => (typeof args.id === "string" ? [args.id] : [])))].map((id) => [id, null]);
}

/** When the turn wrote this document last, if its messages tell. */
function writtenAt({ finished, endedAt }: TurnLog, id: string): number | null {
  const calls = new Set(finished.flatMap((message) => message.tool_calls).flatMap((call) => (WRITES.has(call.name) && call.args.id === id ? [call.id] : [])));
  const last = finished.findLast((message) => message.role === "tool" && message.status === "ok" && calls.has(message.tool_call_id ?? ""));
  return last?.at ?? endedAt;
}

/** The documents that are being written and not looked at. */
export function WritingChips({ log }: { log: TurnLog }) {
  const { say, count } = useWords();
  const artifacts = useThread((state) => state.artifacts);
  const open = useView((state) => state.document);
  const documents = useMemo(() => writtenDocuments(log, versionsOf(artifacts)), [log, artifacts]);
  return documents.map(({ id, title, type, content, updates }) => {
    const known = artifacts.find((item) => item.id === id);
    const facts = [shownLine(known?.content_type ?? type ?? ""), say("writing", (known?.version ?? 0) + 1), say("characters", count((updates.at(-1)?.new ?? content ?? "").length))];
    return open === id ? null : <Chip key={id} title={known?.title ?? title ?? id} facts={facts.filter(Boolean).join(" · ")} open={false} onClick={() => openDocument(id)} />;
  });
}

interface ChipProps {
  title: string;
  facts: string;
  open: boolean;
  onClick: () => void;
}

function Chip({ title, facts, open, onClick }: ChipProps) {
  return (
    <button type="button" className="chip" aria-current={open ? "true" : undefined} onClick={onClick}>
      <span className="pic">
        <Icon name="doc" />
      </span>
      <span className="grow">
        <b>{shownLine(title)}</b>
        <small>{facts}</small>
      </span>
      <Icon name="right" />
    </button>
  );
}

export function Chips({ log }: { log: TurnLog }) {
  const { clock } = useWords();
  const artifacts = useThread((state) => state.artifacts);
  const open = useView((state) => state.document);
  const made = useMemo(() => documentsOf(log), [log]);
  return made.map(([id, version]) => {
    const artifact = artifacts.find((item) => item.id === id);
    if (!artifact) return null;
    const at = version === artifact.version ? artifact.updated_at : writtenAt(log, id);
    const facts = [shownLine(artifact.content_type.replace(/^text\//, "")), version === null ? "" : `v${version}`, at === null ? "" : clock(at)].filter(Boolean);
    return <Chip key={id} title={artifact.title} facts={facts.join(" · ")} open={open === id} onClick={() => openDocument(id)} />;
  });
}
