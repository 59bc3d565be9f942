import { Suspense, useCallback, useMemo } from "react";

import * as api from "../api/calls";
import { useThread } from "../state/thread";
import { openDocument } from "../state/view";
import { useWords } from "../words/words";
import { Boundary } from "./Boundary";
import { Broken } from "./Opening";
import { Documents } from "./lazy";

/** The document beside the conversation. */
export function Panel({ conversation, document }: { conversation: string; document: string }) {
  const { say } = useWords();
  const artifacts = useThread((state) => state.artifacts);
  const revision = useThread((state) => state.revision);
  const running = useThread((state) => state.entries.at(-1)?.log.running);
  const versions = useCallback((id: string) => api.versions(conversation, id).then((found) => found.versions), [conversation]);
  const content = useCallback((id: string, version: number) => api.version(conversation, id, version).then((found) => found.content), [conversation]);
  const live = useMemo(() => {
    const call = running?.find((item) => (item.name === "create_artifact" || item.name === "rewrite_artifact") && item.args.id === document);
    return call && typeof call.args.content === "string" ? { id: document, content: call.args.content } : null;
  }, [running, document]);
  return (
    <aside className="panel" aria-label={say("documents")} id="panel">
      <Boundary key={document} fallback={<Broken />}>
        <Suspense fallback={<div className="bar" />}>
          <Documents
            artifacts={artifacts}
            selected={document}
            revision={revision}
            live={live}
            versions={versions}
            content={content}
            onSelect={openDocument}
            onClose={() => openDocument(null)}
          />
        </Suspense>
      </Boundary>
    </aside>
  );
}
