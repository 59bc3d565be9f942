// All components of src/rich with sample data: `npm run dev`, then /dev/rich.html#documents, #diff, #markdown or #feed.
import "../src/styles/tokens.css";
import "../src/styles/page.css";
import "../src/styles/more.css";
import "../src/styles/later.css";

import { StrictMode, Suspense, useCallback, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";

import { Diff, Markdown } from "../src/rich";
import { Documents } from "../src/rich/documents/Documents";
import { ARTIFACTS, CONTENTS, LONG, PACKAGE, VERSIONS } from "./samples";

const [where = "documents", query = ""] = location.hash.slice(1).split("?");
const options = new URLSearchParams(query);
document.documentElement.dataset.theme = options.get("theme") ?? "light";

function Panel() {
  const [selected, setSelected] = useState(options.get("id") ?? "build-report");
  const versions = useCallback((id: string) => Promise.resolve(VERSIONS(id)), []);
  const content = useCallback((id: string, version: number) => Promise.resolve(CONTENTS(id, version)), []);
  const live = options.has("live") ? { id: selected, title: null, type: null, content: CONTENTS(selected, 4).slice(0, -60), updates: [] } : null;
  return (
    <div className="app has-panel">
      <div className="side" />
      <div className="main" />
      <aside className="panel">
        <Suspense>
          <Documents artifacts={ARTIFACTS} selected={selected} revision={0} live={live} quiet={false} versions={versions} content={content} draft={() => null} onDraft={() => undefined} onSave={() => Promise.resolve("saved")} onSelect={setSelected} onClose={() => setSelected("")} />
        </Suspense>
      </aside>
    </div>
  );
}

/** Feeds 4,000 tokens, so many with each frame, and tells how long scripts ran. */
function Feed() {
  const [text, setText] = useState("");
  const [live, setLive] = useState(true);
  useEffect(() => {
    const tokens = LONG(options.get("kind") ?? "mixed", 4000);
    const each = Number(options.get("each") ?? 1);
    let at = 0;
    let words = "";
    const step = () => {
      words += tokens.slice(at, at + each).join("");
      at += each;
      setText(words);
      if (at < tokens.length) requestAnimationFrame(step);
      else {
        setLive(false);
        document.title = "done";
      }
    };
    requestAnimationFrame(step);
  }, []);
  return (
    <div className="col">
      <Markdown text={text} live={live} />
    </div>
  );
}

function Page() {
  if (where === "documents") return <Panel />;
  if (where === "feed") return <Feed />;
  if (where === "diff") return <div className="col"><Diff before={PACKAGE.before} after={PACKAGE.after} path="package.json" mode={options.has("split") ? "split" : "inline"} /></div>;
  return <div className="col"><Markdown text={LONG("mixed", 1500).join("")} /></div>;
}

const root = document.getElementById("root");
if (root) createRoot(root).render(options.has("strict") ? <StrictMode><Page /></StrictMode> : <Page />);
