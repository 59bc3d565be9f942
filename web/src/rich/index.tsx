// What a message, a file and a document look like inside. Plain components: everything comes by props.
import type { Artifact, ArtifactVersion } from "../api/types";

export interface MarkdownProps {
  text: string;
  /** Words still arrive: the caret is drawn after the last one. */
  live?: boolean;
}

export interface CodeProps {
  text: string;
  language?: string;
  /** Shown in the head of the block, such as a file's name. */
  name?: string;
}

export interface DiffProps {
  before: string;
  after: string;
  path: string;
}

/** A document that is being written now, as far as its words have arrived. */
export interface LiveDocument {
  id: string;
  content: string;
}

export interface DocumentsProps {
  artifacts: readonly Artifact[];
  /** The id of the document that is shown. */
  selected: string;
  /** Grows whenever a version was added: versions are loaded again. */
  revision: number;
  live: LiveDocument | null;
  versions: (id: string) => Promise<readonly ArtifactVersion[]>;
  content: (id: string, version: number) => Promise<string>;
  onSelect: (id: string) => void;
  onClose: () => void;
}

export function Markdown({ text, live = false }: MarkdownProps) {
  return (
    <div className="prose">
      {text.split(/\n{2,}/).map((part, index, all) => (
        <p key={index}>
          {part}
          {live && index === all.length - 1 ? <span className="caret" /> : null}
        </p>
      ))}
    </div>
  );
}

export function Code({ text }: CodeProps) {
  return (
    <div className="code">
      <pre>
        <code>{text}</code>
      </pre>
    </div>
  );
}

export function Diff({ after, path }: DiffProps) {
  return (
    <div className="diff">
      <header>{path}</header>
      <pre>{after}</pre>
    </div>
  );
}

export function Documents({ artifacts, selected, onClose }: DocumentsProps) {
  const shown = artifacts.find((item) => item.id === selected);
  return (
    <div className="bar">
      <h2>{shown?.title ?? selected}</h2>
      <span className="grow" />
      <button className="icon" type="button" onClick={onClose}>
        ×
      </button>
    </div>
  );
}
