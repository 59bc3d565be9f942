import { useMemo } from "react";

import { readJson, writeJson } from "../../api/json";
import type { Artifact } from "../../api/types";
import { indented } from "../../log/indented";
import { useWords } from "../../words/words";
import { AsIs } from "../AsIs";
import { Code } from "../code/Code";
import { languageOf } from "../code/names";
import { Markdown } from "../markdown/Markdown";
import { Csv } from "./Csv";
import { Diagram } from "./Diagram";
import { HtmlPreview } from "./HtmlFrame";

interface PreviewProps {
  artifact: Artifact;
  text: string;
  /** It is still written. A frame or a diagram is drawn when it is complete. */
  live: boolean;
}

/** A document as it is meant to be seen. */
export function Preview({ artifact, text, live }: PreviewProps) {
  const { id, title, content_type: type } = artifact;
  switch (type) {
    case "markdown":
      return <Markdown text={text} live={live} />;
    case "code":
      return <Code text={text} language={languageOf(id) || languageOf(title)} live={live} bare numbered />;
    case "json":
      return <Json text={text} live={live} />;
    case "csv":
      return <Csv text={text} />;
    case "html":
      return live ? <Code text={text} language="html" live bare /> : <HtmlPreview key={text} html={text} title={title} />;
    case "mermaid":
      return live ? <Code text={text} live bare /> : <Diagram source={text} title={title} />;
    default:
      return <div className="as-is"><AsIs text={text} /></div>;
  }
}

/** Larger ones are shown as they are. */
const LARGE = 200_000;

function Json({ text, live }: { text: string; live: boolean }) {
  const { say } = useWords();
  const pretty = useMemo(() => (live || text.length > LARGE ? text : inLines(text)), [text, live]);
  return (
    <>
      {pretty === null ? <p className="quiet told">{say("badSource", "JSON")}</p> : null}
      <Code text={pretty ?? text} language="json" live={live} bare />
    </>
  );
}

/** Numbers that a script cannot hold exactly, and names that come twice, must not change: then it stays as it is. */
function inLines(text: string): string | null {
  try {
    const value = readJson(text);
    const shown = indented(value);
    return writeJson(value).length === text.replace(/("(?:[^"\\]|\\.)*")|\s+/g, "$1").length ? shown : text;
  } catch {
    return null;
  }
}
