import { useMemo } from "react";

import { shownLine } from "../log/shown";
import type { TurnLog } from "../log/turn";
import { writtenDocuments } from "../log/written";
import { useThread, versionsOf } from "../state/thread";
import { openDocument, useView } from "../state/view";
import { useWords } from "../words/words";
import { Icon } from "./Icon";

const WRITES = new Set(["create_artifact", "update_artifact", "rewrite_artifact"]);

/** What the tools that write say at the end of their first line. */
const MADE = /: version (\d+)/;

/** The documents that a turn has written, in the order in which they were first touched, each with the version that the
 * turn left behind. */
function documentsOf(log: TurnLog): [string, number | null][] {
  const made = new Map<string, number | null>();
  const done = new Map(log.finished.filter((message) => message.role === "tool" && message.status === "ok").map((message) => [message.tool_call_id, message.content]));
  for (const message of log.finished) {
    for (const call of message.tool_calls) {
      const said = done.get(call.id);
      if (!WRITES.has(call.name) || said === undefined || typeof call.args.id !== "string") continue;
      const version = MADE.exec(said)?.[1];
      made.set(call.args.id, version === undefined ? null : Number(version));
    }
  }
  for (const change of log.documents) made.set(change.id, change.version);
  return [...made];
}

/** The documents that are being written and not looked at. */
export function WritingChips({ log }: { log: TurnLog }) {
  const { say, count } = useWords();
  const artifacts = useThread((state) => state.artifacts);
  const open = useView((state) => state.document);
  const documents = useMemo(() => writtenDocuments(log, versionsOf(artifacts)), [log, artifacts]);
  return documents.map(({ id, title, type, content }) => {
    const known = artifacts.find((item) => item.id === id);
    const facts = [shownLine(known?.content_type ?? type ?? ""), say("writing", (known?.version ?? 0) + 1), say("characters", count(content.length))];
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
    const newest = version === null || version === artifact.version;
    const facts = [shownLine(artifact.content_type.replace(/^text\//, "")), `v${version ?? artifact.version}`, newest ? clock(artifact.updated_at) : ""].filter(Boolean);
    return <Chip key={id} title={artifact.title} facts={facts.join(" · ")} open={open === id} onClick={() => openDocument(open === id ? null : id)} />;
  });
}
