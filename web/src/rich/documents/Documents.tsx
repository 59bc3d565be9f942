import "../rich.css";

import type { Artifact, ArtifactVersion } from "../../api/types";
import type { WrittenDocument } from "../../log/written";
import { Icon } from "../../page/Icon";
import { shownLine } from "../../log/shown";
import { useWords } from "../../words/words";
import { Document } from "./Document";
import { QuietContext } from "./quiet";
import type { DocumentDraft } from "./Editor";

export interface DocumentsProps {
  artifacts: readonly Artifact[];
  /** The id of the document that is shown; without one, the list. */
  selected: string;
  /** Grows whenever a version was added: versions are loaded again. */
  revision: number;
  /** A document that is being written now. */
  live: WrittenDocument | null;
  versions: (id: string) => Promise<readonly ArtifactVersion[]>;
  content: (id: string, version: number) => Promise<string>;
  /** What the person has written into a document and not saved. */
  draft: (id: string) => DocumentDraft | null;
  onDraft: (id: string, draft: DocumentDraft | null) => void;
  /** Saves a version by the person: "outdated" if another one than the draft's base is the newest. */
  onSave: (id: string, draft: DocumentDraft) => Promise<"saved" | "outdated">;
  /** A dialog lies over the page: no document of an agent may run beside it. */
  quiet: boolean;
  onSelect: (id: string) => void;
  onClose: () => void;
}

/** The documents of a conversation, or one of them. */
export function Documents(props: DocumentsProps) {
  const { artifacts, selected, live, onSelect } = props;
  const artifact = artifacts.find((item) => item.id === selected) ?? begun(selected, live);
  if (!artifact) return <List {...props} />;
  return (
    <QuietContext value={props.quiet}>
      <Document key={artifact.id} {...props} artifact={artifact} {...(artifacts.length > 1 ? { onList: () => onSelect("") } : {})} />
    </QuietContext>
  );
}

/** A document whose first version is still written is in no list yet. */
function begun(id: string, live: WrittenDocument | null): Artifact | null {
  if (live?.id !== id || id === "") return null;
  return { id, title: live.title ?? id, content_type: live.type ?? "text", version: 0, created_at: 0, updated_at: 0 };
}

function List({ artifacts, onSelect, onClose }: DocumentsProps) {
  const { say, clock } = useWords();
  return (
    <>
      <div className="bar">
        <h2>{say("documents")}</h2>
        <span className="grow" />
        <button type="button" className="icon" aria-label={say("close")} title={say("close")} onClick={onClose}>
          <Icon name="cross" />
        </button>
      </div>
      <div className="sheet-body documents">
        {artifacts.length === 0 ? <p className="quiet told">{say("noDocuments")}</p> : null}
        {artifacts.map((item) => (
          <button type="button" className="chip" key={item.id} onClick={() => onSelect(item.id)}>
            <span className="pic">
              <Icon name="doc" />
            </span>
            <span className="grow">
              <b>{shownLine(item.title)}</b>
              <small>
                {item.content_type} · v{item.version} · {clock(item.updated_at)}
              </small>
            </span>
            <Icon name="right" />
          </button>
        ))}
      </div>
    </>
  );
}
