import { memo, useState } from "react";

import { NOT_DONE, type ToolView } from "../log/blocks";
import { shownLine } from "../log/shown";
import { AsIs } from "../rich/AsIs";
import { useWords, type Key, type Words } from "../words/words";
import { Icon, type IconName } from "./Icon";
import { Long } from "./Long";
import { json, mainArgument, toolWords } from "./tools";
import { minutes, useNow } from "./useNow";

const MARKS: Partial<Record<ToolView["state"], { icon: IconName; style: string; label: Key }>> = {
  ok: { icon: "check", style: "ok", label: "done" },
  error: { icon: "cross", style: "fail", label: "failed" },
  refused: { icon: "refused", style: "no", label: "refused" },
  not_done: { icon: "refused", style: "no", label: "notDone" },
  unknown: { icon: "unknown", style: "un", label: "unknown" },
  answered: { icon: "ask", style: "ok", label: "answeredByYou" },
};

export function ToolMark({ state }: { state: ToolView["state"] }) {
  const { say } = useWords();
  const mark = MARKS[state];
  if (state === "running" || state === "writing")
    return (
      <span className="state" role="img" aria-label={say(state === "running" ? "running" : "writingTool")}>
        <span className="spin" />
      </span>
    );
  if (!mark) return <span className="state next" role="img" aria-label={say("waitingTool")} />;
  return (
    <span className={`state ${mark.style}`} role="img" aria-label={say(mark.label)}>
      <Icon name={mark.icon} />
    </span>
  );
}

/** How long a running call has taken so far. */
export function Running({ since }: { since: number | null }) {
  const now = useNow(since !== null);
  return since === null ? null : <span className="time num keep-phone">{minutes(Math.max(0, now - since))}</span>;
}

function Time({ tool }: { tool: ToolView }) {
  const { say, span } = useWords();
  switch (tool.state) {
    case "running":
      return <Running since={tool.since} />;
    case "writing":
      return <span className="time keep-phone">{say("writingTool")}</span>;
    case "ok":
      return tool.ms !== null ? <span className="time">{span(tool.ms)}</span> : null;
    case "error":
      return <span className="time fail keep-phone">{say("failed")}</span>;
    case "refused":
      return <span className="time keep-phone">{say("refused")}</span>;
    case "answered":
      return <span className="time keep-phone">{say("answeredByYou")}</span>;
    case "not_done":
      return <span className="time keep-phone">{say("notDone")}</span>;
    case "unknown":
      return <span className="time keep-phone">{say("unknown")}</span>;
    case "next":
      return <span className="time">{say("waitingTool")}</span>;
  }
}

const REFUSED = "Not done: the person refused this call.";
/** What LangChain's middleware tells the model about a call that a person refused, with their reason or without one. */
const REJECTED = /^User rejected the tool call for `[^`]*` with (?:reason: ([\s\S]+)|id [\s\S]*)$/;

/** Why the person refused a call; empty if they gave no reason, null if the text says nothing about that. */
function reasonIn(output: string): string | null {
  if (output.startsWith(REFUSED)) return output.slice(REFUSED.length).replace(/^\s*(They said|Reason):?\s*/i, "").trim();
  const rejected = REJECTED.exec(output);
  return rejected ? (rejected[1] ?? "").trim() : null;
}

/** The line below a row: what a running call does now, or why it did not go as planned. */
function Below({ tool }: { tool: ToolView }) {
  const { say } = useWords();
  const output = tool.output ?? "";
  if (tool.state === "running" && tool.progress) return <div className="sub tool-sub">{shownLine(tool.progress)}</div>;
  if (tool.state === "error") {
    const line = shownLine((output.split("\n", 1)[0] ?? "").slice(0, 400));
    return line ? <div className="sub fail tool-sub">{line.length > 200 ? `${line.slice(0, 200)}…` : line}</div> : null;
  }
  if (tool.state === "refused" || tool.state === "answered") {
    const words = tool.state === "refused" ? reasonIn(output) : output.trim();
    return words ? <div className="sub tool-sub">{say(tool.state === "refused" ? "refusedBy" : "answeredBy", quoted(words))}</div> : null;
  }
  if (tool.state === "unknown") return <div className="sub tool-sub">{say("unknownText")}</div>;
  return null;
}

/** So much of what a person said is shown below a row. */
const SAID = 2000;
const quoted = (words: string): string => shownLine(words.length > SAID ? `${words.slice(0, SAID)}…` : words);

/** The answers on one line. */
function chosen(answers: NonNullable<ToolView["answers"]>): string {
  return shownLine(answers.map(({ answer }) => answer.slice(0, 100)).join(" · ").slice(0, 300));
}

/** What the server says of a document that was stored. The version is all that the row does not tell. */
const STORED = /^(?:created|updated|rewrote) artifact \S+: version (\d+)$/;

/** What a call returned. What the server itself says in English is said in the language of the page. */
function outputText({ state, output }: ToolView, { say }: Words): string {
  const text = output ?? "";
  if (state === "refused" && reasonIn(text) === "") return say("refusedPlain");
  if (state === "not_done" && text === NOT_DONE) return say("notDonePlain");
  const version = state === "ok" ? STORED.exec(text)?.[1] : undefined;
  return version ? say("storedAs", version) : text;
}

function Tool({ tool }: { tool: ToolView }) {
  const words = useWords();
  const { say } = words;
  const [open, setOpen] = useState(false);
  const named = toolWords(tool.name);
  return (
    <>
      <details className="tool" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <ToolMark state={tool.state} />
          <span className="what">{named ? say(named) : <span className="mono">{shownLine(tool.name)}</span>}</span>
          <span className={tool.answers || tool.name === "web_search" ? "on" : "on exact"}>{tool.answers ? chosen(tool.answers) : tool.name === "ask_user" ? "" : mainArgument(tool.name, tool.args)}</span>
          <span className="grow" />
          {tool.granted ? <span className="time keep-phone">{say("alwaysAllowed")}</span> : null}
          {tool.wanted ? <span className="time keep-phone">{say("editedByYou")}</span> : null}
          {named ? <span className="how">{tool.name}</span> : null}
          <Time tool={tool} />
          <span className="fold">
            <Icon name="right" small />
          </span>
        </summary>
        {open && tool.answers ? (
          <dl className="io given">
            {tool.answers.map(({ question, answer }, index) => (
              <div key={index}>
                <dt className="lines-kept"><AsIs text={question} /></dt>
                <dd className="lines-kept"><AsIs text={answer} /></dd>
              </div>
            ))}
          </dl>
        ) : open ? (
          <div className="io">
            <h4>{say(tool.wanted ? "inputEdited" : "input")}</h4>
            <Long text={json(tool.args)} className="exact" />
            {tool.wanted ? (
              <>
                <h4>{say("inputWanted")}</h4>
                <Long text={json(tool.wanted)} className="exact" />
              </>
            ) : null}
            {tool.output !== null && tool.output !== "" ? (
              <>
                <h4>{say(tool.state === "answered" ? "youReplied" : "output")}</h4>
                <Long text={outputText(tool, words)} />
              </>
            ) : null}
          </div>
        ) : null}
      </details>
      {open && (tool.state === "error" || tool.state === "answered") ? null : <Below tool={tool} />}
    </>
  );
}

const MemoTool = memo(Tool, (before, after) => sameTool(before.tool, after.tool));

function sameTool(one: ToolView, other: ToolView): boolean {
  return one.id === other.id && one.state === other.state && one.output === other.output && one.ms === other.ms && one.since === other.since && one.progress === other.progress && one.args === other.args && one.granted === other.granted;
}

export function Tools({ tools }: { tools: ToolView[] }) {
  return (
    <div className="tools">
      {tools.map((tool) => (
        <MemoTool key={tool.key} tool={tool} />
      ))}
    </div>
  );
}
