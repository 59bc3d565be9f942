import { useMemo } from "react";

import { shownLine } from "../log/shown";
import type { TurnLog } from "../log/turn";
import { useThread } from "../state/thread";
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

export function Chips({ log }: { log: TurnLog }) {
  const { clock } = useWords();
  const artifacts = useThread((state) => state.artifacts);
  const open = useView((state) => state.document);
  const made = useMemo(() => documentsOf(log), [log]);
  return made.map(([id, version]) => {
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
            {shownLine(artifact.content_type.replace(/^text\//, ""))} · v{version ?? artifact.version}
            {version === null || version === artifact.version ? ` · ${clock(artifact.updated_at)}` : ""}
          </small>
        </span>
        <Icon name="right" />
      </button>
    );
  });
}
