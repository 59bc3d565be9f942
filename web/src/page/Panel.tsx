import { Suspense, useCallback, useMemo, useState } from "react";

import * as api from "../api/calls";
import { ApiError } from "../api/client";
import { writtenDocuments } from "../log/written";
import { documentDraft, keepDocumentDraft, saveDocument, type DocumentDraft } from "../state/documents";
import { useSession } from "../state/session";
import { useThread, versionsOf } from "../state/thread";
import { openDocument, useView } from "../state/view";
import { refusalText } from "../words/faults";
import { useWords, type Words } from "../words/words";
import { Boundary } from "./Boundary";
import { Documents } from "./lazy";
import { Broken } from "./Opening";

/** The document beside the conversation. */
export function Panel({ conversation, document }: { conversation: string; document: string }) {
  const words = useWords();
  const { say } = words;
  const artifacts = useThread((state) => state.artifacts);
  const revision = useThread((state) => state.revision);
  const log = useThread((state) => state.entries.at(-1)?.log);
  const ended = useSession((state) => state.phase === "ended");
  const asking = useView((state) => state.dialog !== null);
  const quiet = ended || asking;
  const versions = useCallback((id: string) => api.versions(conversation, id).then((found) => found.versions), [conversation]);
  const content = useCallback((id: string, version: number) => api.version(conversation, id, version).then((found) => found.content), [conversation]);
  const draft = useCallback((id: string) => documentDraft(conversation, id), [conversation]);
  const [stored, setStored] = useState(true);
  const onDraft = useCallback((id: string, written: DocumentDraft | null) => setStored(keepDocumentDraft(conversation, id, written) || written === null), [conversation]);
  const onSave = useCallback(
    (id: string, written: DocumentDraft) =>
      saveDocument(conversation, id, written).then(
        (outcome) => {
          if (outcome === "saved") setStored(true);
          return outcome;
        },
        (error: unknown) => {
          throw new Error(error instanceof ApiError ? savingFault(error, words) : say("notSaved", String(error)));
        },
      ),
    [conversation, words, say],
  );
  const live = useMemo(() => (log ? (writtenDocuments(log, versionsOf(artifacts)).find((item) => item.id === document) ?? null) : null), [log, artifacts, document]);
  return (
    <>
      {stored ? null : (
        <p className="fault" role="alert">
          {say("draftNotStored")}
        </p>
      )}
      <Boundary key={document} fallback={<Broken />}>
        <Suspense fallback={<div className="bar" />}>
          <Documents
            artifacts={artifacts}
            selected={document}
            revision={revision}
            live={live}
            quiet={quiet}
            versions={versions}
            content={content}
            draft={draft}
            onDraft={onDraft}
            onSave={onSave}
            onSelect={openDocument}
            onClose={() => openDocument(null)}
          />
        </Suspense>
      </Boundary>
    </>
  );
}

/** A version without a response may be stored. The same text on the same version is not stored twice. */
function savingFault(fault: ApiError, words: Words): string {
  if (fault.status === 0) return words.say("saveUnanswered");
  return words.say("notSaved", fault.status === 503 || fault.status === 500 ? words.say("serverDown") : refusalText(fault, words));
}
