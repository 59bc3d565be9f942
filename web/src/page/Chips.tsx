import { useMemo } from "react";

import { shownLine } from "../log/shown";
import type { TurnLog } from "../log/turn";
import { useThread } from "../state/thread";
import { openDocument, useView } from "../state/view";
import { useWords } from "../words/words";
import { Icon } from "./Icon";

const WRITES = new Set(["create_artifact", "update_artifact", "rewrite_artifact"]);

/** The documents that a turn has written, in the order in which they were first touched. */
function documentsOf(log: TurnLog): string[] {
  const ids = new Set<string>();
  const done = new Set(log.finished.filter((message) => message.role === "tool" && message.status === "ok").map((message) => message.tool_call_id));
  for (const message of log.finished) {
    for (const call of message.tool_calls) {
      if (WRITES.has(call.name) && done.has(call.id) && typeof call.args.id === "string") ids.add(call.args.id);
    }
  }
  for (const change of log.documents) ids.add(change.id);
  return [...ids];
}

export function Chips({ log }: { log: TurnLog }) {
  const { clock } = useWords();
  const artifacts = useThread((state) => state.artifacts);
  const open = useView((state) => state.document);
  const ids = useMemo(() => documentsOf(log), [log]);
  return ids.map((id) => {
    const artifact = artifacts.find((item) => item.id === id);
    if (!artifact) return null;
    return (
      <button key={id} type="button" className="chip" aria-current={open === id ? "true" : undefined} onClick={() => openDocument(open === id ? null : id)}>
        <span className="pic">
          <Icon name="doc" />
        </span>
        <span className="grow">
          <b>{shownLine(artifact.title)}</b>
          <small>
            {shownLine(artifact.content_type.replace(/^text\//, ""))} · v{artifact.version} · {clock(artifact.updated_at)}
          </small>
        </span>
        <Icon name="right" />
      </button>
    );
  });
}
