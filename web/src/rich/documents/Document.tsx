import { useEffect, useMemo, useRef, useState } from "react";

import type { Artifact } from "../../api/types";
import { revised, revision as revisionOf, type Revision } from "../../log/revision";
import { Copy } from "../../page/Copy";
import { Icon } from "../../page/Icon";
import { shownLine } from "../../log/shown";
import { fitsField } from "../../log/strain";
import { useWords } from "../../words/words";
import { Code } from "../code/Code";
import type { DiffMode } from "../diff/Rows";
import { languageOf } from "../code/names";
import { Changes } from "./Changes";
import { useContent, useVersions } from "./contents";
import { Editor } from "./Editor";
import type { DocumentsProps } from "./Documents";
import { fileName, save } from "./download";
import { Preview } from "./Preview";
import { Revised } from "./Revised";
import { Tabs, type View } from "./Tabs";
import { Track } from "./Track";

interface DocumentProps extends DocumentsProps {
  artifact: Artifact;
  onList?: () => void;
}

const LANGUAGES = new Map([["markdown", "markdown"], ["html", "html"], ["json", "json"]]);

/** A document whose first version is still written has none. */
const NO_VERSIONS = () => Promise.resolve([]);

/** One document: a version of it, or what changed between two. */
export function Document({ artifact, revision, live, versions: loadVersions, content, draft, onDraft, onSave, onList, onClose }: DocumentProps) {
  const { say, clock } = useWords();
  const loaded = useVersions(artifact.id, revision, artifact.version === 0 ? NO_VERSIONS : loadVersions);
  const versions = loaded.value ?? [];
  const newest = Math.max(versions.at(-1)?.version ?? 0, artifact.version);
  const writing = live?.id === artifact.id ? newest + 1 : null;
  const [view, setView] = useState<View>("preview");
  const [mode, setMode] = useState<DiffMode>(() => (matchMedia("(max-width: 639px)").matches ? "inline" : "split"));
  const [chosen, setChosen] = useState<number | null>(null);
  const [base, setBase] = useState<number | null>(null);
  const [editing, setEditing] = useState(false);
  const pen = useRef<HTMLButtonElement>(null);
  // Who chooses no version sees the newest one, also when a newer one comes.
  const on = chosen ?? writing ?? newest;
  const from = view === "changes" ? (base ?? Math.max(0, on - 1)) : null;
  const stored = useContent(artifact.id, Math.min(on, newest), content);
  const before = useContent(artifact.id, from ?? 0, content);
  const growing = on === writing;
  // What was written stays until the stored version has been loaded.
  const [written, setWritten] = useState<{ version: number; text: string } | null>(null);
  const origin = live?.content ?? (stored.state === "there" ? stored.value : null);
  const grown = useMemo(() => (live && origin !== null ? revised(origin, live.updates) : null), [live, origin]);
  if (growing && grown !== null && writing !== null && (written?.version !== writing || written.text !== grown)) setWritten({ version: writing, text: grown });
  const update = growing ? live?.updates.at(-1) : undefined;
  const marked = useMemo(() => (live && origin !== null ? revisionOf(origin, live.updates) : null), [live, origin]);
  const now = growing && live ? grown : stored.state === "loading" && written?.version === on ? written.text : stored.value;
  const body = useFollowed(growing && chosen === null, now, marked);
  const at = (version: number) => {
    const made = versions.find((item) => item.version === version);
    return made === undefined ? `v${version}` : `v${version} · ${clock(made.created_at)}${made.turn_id === null ? ` · ${say("byYou")}` : ""}`;
  };
  const endEditing = (): void => {
    setEditing(false);
    // The button is drawn again first.
    setTimeout(() => pen.current?.focus());
  };
  const kept = editing ? null : draft(artifact.id);
  const editable = useMemo(() => now === null || growing || fitsField(now), [now, growing]) && (kept === null || fitsField(kept.text));
  const failed = stored.state === "failed" || loaded.state === "failed" || (from !== null && before.state === "failed");
  return (
    <>
      <div className="bar">
        {onList ? (
          <button type="button" className="icon" aria-label={say("documents")} title={say("documents")} onClick={onList}>
            <Icon name="left" />
          </button>
        ) : null}
        <h2>{shownLine(artifact.title)}</h2>
        <span className="kind">{artifact.content_type}</span>
        <span className="grow" />
        {now !== null && !failed && !growing && !editing && editable ? (
          <button ref={pen} type="button" className="icon" aria-label={say(kept ? "editDraft" : "edit")} title={say(kept ? "editDraft" : "edit")} onClick={() => setEditing(true)}>
            <Icon name="pen" />
          </button>
        ) : null}
        <Copy text={now ?? ""} />
        <button type="button" className="icon" aria-label={say("download")} title={say("download")} onClick={() => save(fileName(artifact), now ?? "")}>
          <Icon name="load" />
        </button>
        <button type="button" className="icon" aria-label={say("close")} title={say("close")} onClick={onClose}>
          <Icon name="cross" />
        </button>
      </div>
      {editable || editing ? null : <p className="quiet told">{say("tooHardToEditHere")}</p>}
      {editing && now !== null ? (
        <Editor
          title={artifact.title}
          begin={draft(artifact.id) ?? { text: now, base: newest }}
          saved={now}
          shown={Math.min(on, newest)}
          newest={newest}
          onKeep={(written) => onDraft(artifact.id, written)}
          onSave={async (written) => {
            const outcome = await onSave(artifact.id, written);
            if (outcome === "saved") {
              setChosen(null);
              endEditing();
            }
            return outcome;
          }}
          onCompare={(began) => {
            setEditing(false);
            setView("changes");
            setBase(began);
            setChosen(null);
          }}
          onEnd={endEditing}
        />
      ) : (
        <>
          <Track versions={versions} on={on} from={from} writing={writing} onChoose={(version) => setChosen(version === (writing ?? newest) ? null : version)} />
          <Tabs
            view={view}
            mode={mode}
            numbers={[...versions.map((item) => item.version), ...(writing === null ? [] : [writing])]}
            from={from}
            on={on}
            follow={writing === null ? null : chosen === null}
            onView={setView}
            onMode={setMode}
            onFrom={setBase}
            onOn={setChosen}
            onFollow={(follow) => setChosen(follow ? null : newest || null)}
          />
          <div className={view === "changes" ? "sheet-body flush" : "sheet-body"} ref={body} role="tabpanel" tabIndex={0} aria-label={say(view)}>
            {failed ? <p className="quiet told">{say("loadFailed")}</p> : null}
            {now === null || failed ? null : update && view !== "changes" ? (
              <Revised text={now} revision={marked} update={update} />
            ) : view === "preview" ? (
              <Preview artifact={artifact} text={now} live={growing} />
            ) : view === "source" ? (
              <Code text={now} language={LANGUAGES.get(artifact.content_type) ?? languageOf(artifact.id)} live={growing} bare numbered />
            ) : before.value === null ? null : (
              <Changes before={before.value} after={now} names={[at(from ?? 0), at(on)]} mode={mode} />
            )}
          </div>
        </>
      )}
    </>
  );
}

/** Keeps the newest words of a text that is written in sight. */
function useFollowed(follow: boolean, text: string | null, marks: Revision | null) {
  const body = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const box = body.current;
    if (!follow || !box) return;
    const place = box.querySelector<HTMLElement>(".revised ins") ?? box.querySelector<HTMLElement>(".revised del");
    // Not scrollIntoView: that would move the page, too.
    if (!place) box.scrollTop = box.querySelector(".revised") ? 0 : box.scrollHeight;
    else box.scrollTop += place.getBoundingClientRect().bottom - box.getBoundingClientRect().top - box.clientHeight / 2;
  }, [follow, text, marks]);
  return body;
}
