import { memo, Suspense, useMemo } from "react";

import type { Note as NoteData } from "../api/types";
import { answerText, blocks, type Block, type ToolState, type ToolView } from "../log/blocks";
import { shownLine } from "../log/shown";
import { AsIs } from "../rich/AsIs";
import { endingOf, isLive } from "../log/turn";
import { useAgents } from "../state/agents";
import { useConnection } from "../state/connection";
import { regenerate, retry } from "../state/doing";
import { records, type Records } from "../state/records";
import { grantsBefore, type Entry } from "../state/thread";
import type { ReadMark } from "../state/reading";
import { useWords } from "../words/words";
import type { MarkdownProps } from "../rich";
import { Boundary } from "./Boundary";
import { Broken } from "./Opening";
import { Chips, WritingChips } from "./Chips";
import { Copy } from "./Copy";
import { Hop } from "./Hop";
import { Bars, Icon } from "./Icon";
import { Ask, Markdown } from "./lazy";
import { Mark, Note } from "./Note";
import { Over } from "./Over";
import { Thinking } from "./Thinking";
import { Running, ToolMark, Tools } from "./Tools";
import { mainArgument } from "./tools";

interface TextProps {
  text: string;
  live: boolean;
  /** So many characters had been read when the person left; null if they left elsewhere. */
  left: number | null;
  /** When they left. */
  at: number;
}

const Text = memo(function Text({ text, live, left, at }: TextProps) {
  const mark = useMemo(() => (left === null ? null : { after: left, sign: <Mark at={at} /> }), [left, at]);
  const plain = <PlainText text={text} mark={mark} />;
  return (
    <Boundary fallback={plain}>
      <Suspense fallback={plain}>
        <Markdown text={text} live={live} mark={mark} />
      </Suspense>
    </Boundary>
  );
});

/** A text as it was written, until the part that draws it is there. */
function PlainText({ text, mark }: { text: string; mark: MarkdownProps["mark"] }) {
  const start = mark ? text.lastIndexOf("\n\n", mark.after) + 1 : 0;
  return (
    <>
      {start > 0 ? <div className="prose lines-kept"><AsIs text={text.slice(0, start).trimEnd()} /></div> : null}
      {mark?.sign}
      <div className="prose lines-kept"><AsIs text={text.slice(start).trimStart()} /></div>
    </>
  );
}

interface AnswerProps {
  entry: Entry;
  last: boolean;
  versions: readonly string[];
  mark: ReadMark | null;
}

/** The answer of a turn, along its rail. */
export function Answer({ entry, last, versions, mark }: AnswerProps) {
  const { say } = useWords();
  const names = useAgents((state) => state.names);
  const { log } = entry;
  const live = isLive(log.status) && log.status !== "waiting";
  const lost = useConnection((state) => live && last && state.lost !== null);
  // Earlier turns have ended: what was allowed in them does not change.
  // oxlint-disable-next-line react/exhaustive-deps
  const grants = useMemo(() => grantsBefore(entry.turn.id), [entry.turn.id, log.finished]);
  const found = useMemo(() => news(blocks(log, names, mark && mark.messages >= 0 ? mark : null, grants), last), [log, names, mark, last, grants]);
  const settled = !isLive(log.status);
  const style = log.status === "done" ? "turn done" : lost ? "turn lost" : "turn";
  return (
    <article className={style} aria-label={shownLine(entry.turn.agent)} aria-busy={live}>
      {found.map((block) => (
        <BlockView key={block.key} block={lost && block.kind === "text" ? { ...block, live: false } : block} mark={mark} entry={entry} last={last} />
      ))}
      {settled ? <Chips log={log} /> : <WritingChips log={log} />}
      <Over entry={entry} last={last} />
      {settled ? <Acts entry={entry} last={last} versions={versions} /> : null}
      {live && found.length === 0 ? <p className="note begin">{say(log.status === "queued" ? "queued" : "thinking")}</p> : null}
      {live ? <span className="end" /> : null}
    </article>
  );
}

/** The mark stands before what is new. At the end of the newest turn nothing is. */
function news(found: Block[], last: boolean): Block[] {
  return last && found.at(-1)?.kind === "mark" ? found.slice(0, -1) : found;
}

function BlockView({ block, mark, entry, last }: { block: Block; mark: ReadMark | null; entry: Entry; last: boolean }) {
  switch (block.kind) {
    case "text":
      return <Text text={block.text} live={block.live} left={block.left} at={mark?.at ?? 0} />;
    case "thinking":
      return <Thinking text={block.text} live={block.live} ms={block.ms} />;
    case "tools":
      return <Tools tools={block.tools} />;
    case "agent":
      return <SubAgent block={block} entry={entry} last={last} />;
    case "said":
      return <Reply text={block.text} />;
    case "note":
      return <Note note={block.note} pauses={block.pauses} again={last && endedUnanswered(entry, block.note) ? () => void retry(entry) : undefined} />;
    case "ask":
      return (
        <Boundary fallback={<Broken />}>
          <Suspense>
            <Ask interrupts={block.interrupts} asked={askedAt(entry.log.notes)} />
          </Suspense>
        </Boundary>
      );
    case "mark":
      return mark ? <Mark at={mark.at} /> : null;
  }
}

/** What the person answered to a confirmation, as the agent reads it. */
function Reply({ text }: { text: string }) {
  const { say } = useWords();
  return (
    <p className="reply">
      <small>{say("youReplied")}</small>
      <span className="lines-kept"><AsIs text={text} /></span>
    </p>
  );
}

/** Whether the turn ended because nobody answered this question in time. Of several ones the last offers to ask again. */
function endedUnanswered({ log }: Entry, note: NoteData): boolean {
  return endingOf(log)?.outcome === "timeout" && note === log.notes.findLast((item) => item.outcome === "expired");
}

/** When each question was asked. */
function askedAt(notes: readonly NoteData[]): Records<number> {
  return records(Object.fromEntries(notes.flatMap((note) => (note.interrupt_id && note.at !== null ? [[note.interrupt_id, note.at] as const] : []))));
}

/** A sub-agent at work, under the call that started it. */
function SubAgent({ block, entry, last }: { block: Extract<Block, { kind: "agent" }>; entry: Entry; last: boolean }) {
  const { say, span } = useWords();
  const { tool, inner, waits } = block;
  const steps = inner.reduce((sum, item) => sum + (item.kind === "tools" ? item.tools.length : item.kind === "agent" ? 1 : 0), 0);
  const working = tool.state === "running" || waits;
  const time = tool.ms !== null ? span(tool.ms) : "";
  return (
    <details className="sub-agent" open={working || undefined}>
      <summary>
        {waits ? <Waits /> : <ToolMark state={stateOf(tool, inner)} />}
        <span className="who">{shownLine(tool.name)}</span>
        <span className="task">{mainArgument(tool.name, tool.args)}</span>
        <span className="grow" />
        {waits ? (
          <span className="time waits keep-phone">{say("statusWaits")}</span>
        ) : tool.state === "running" ? (
          <Running since={tool.since} />
        ) : (
          <span className="time quiet num">
            {[steps > 1 ? say("steps", steps) : steps === 1 ? say("step") : "", time].filter(Boolean).join(" · ")}
          </span>
        )}
        <span className="fold">
          <Icon name="right" small />
        </span>
      </summary>
      <div className="inner">
        {inner.map((item) => (
          <BlockView key={item.key} block={item} mark={null} entry={entry} last={last} />
        ))}
      </div>
    </details>
  );
}

/** The two strokes of what has stopped for the person. The word beside them is read out. */
function Waits() {
  return (
    <span className="state waits">
      <Bars />
    </span>
  );
}

/** A sub-agent all of whose steps failed, or were refused, has done nothing, whatever it says. */
function stateOf(tool: ToolView, inner: readonly Block[]): ToolState {
  if (tool.state !== "ok") return tool.state;
  const steps = inner.flatMap((item) => (item.kind === "tools" ? item.tools.map((step) => step.state) : item.kind === "agent" ? [stateOf(item.tool, item.inner)] : []));
  const [first] = steps;
  return (first === "error" || first === "refused") && steps.every((step) => step === first) ? first : "ok";
}

function Acts({ entry, last, versions }: { entry: Entry; last: boolean; versions: readonly string[] }) {
  const { say, count, clock } = useWords();
  const { usage, status } = entry.log;
  const { ended_at: ended, id, demo } = entry.turn;
  // The log knows the model that answered. A graph may name none.
  const model = (entry.log.model || entry.turn.model || "").trim();
  const input = usage?.input_tokens;
  const output = usage?.output_tokens;
  const at = entry.log.endedAt ?? ended;
  const facts = [
    demo ? "" : shownLine(model),
    input !== undefined && output !== undefined ? say("usage", count(input), count(output)) : "",
    at ? clock(at) : "",
  ].filter(Boolean);
  return (
    <div className={last || versions.length > 1 ? "acts on" : "acts"}>
      {answerText(entry.log) === "" ? null : <Copy text={() => answerText(entry.log)} />}
      {status === "done" || !last ? (
        <button type="button" className="icon" aria-label={say("regenerate")} title={say("regenerate")} onClick={(event) => event.detail < 2 && void regenerate(entry)}>
          <Icon name="again" />
        </button>
      ) : null}
      <Hop versions={versions} current={id} />
      <span className="grow" />
      <span className="num lines-kept">{facts.join(" · ")}</span>
    </div>
  );
}
