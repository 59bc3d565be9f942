import { createContext, memo, useContext, useEffect, useMemo, useRef, useState } from "react";

import { Copy } from "../../page/Copy";
import { drawn, isDense } from "../../log/shown";
import { LONG_UNSPACED, unspaced } from "../../log/strain";
import { AsIs } from "../AsIs";
import { strands } from "../strands";
import { normal } from "./names";
import { Painter, type Paper } from "./painter";
import type { Token } from "./token";

export interface CodeProps {
  text: string;
  language?: string;
  /** Shown in the head of the block, such as a file's name. */
  name?: string;
  live?: boolean;
  /** Without head and frame: the source of a document. */
  bare?: boolean;
  /** With the number of each line. */
  numbered?: boolean;
}

/** Longer code is shown without colours, and in steps. */
const LONGEST = 60_000;

export const PainterContext = createContext(
  new Painter(() => typeof Worker === "undefined" ? null : new Worker(new URL("./highlight.worker.ts", import.meta.url), { type: "module" })),
);

export function Code({ text, language = "", name, live = false, bare = false, numbered = false }: CodeProps) {
  const huge = text.length > LONGEST;
  const body = (
    // A person who uses the keyboard scrolls it.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <pre tabIndex={0} role="group" aria-label={name ?? (language || undefined)}>
      <code>{huge ? <AsIs text={text} /> : <Lines text={text} language={normal(language)} numbered={numbered} />}</code>
      {live ? <span className="caret" /> : null}
    </pre>
  );
  if (bare) return <div className={numbered && !huge ? "code bare numbered" : "code bare"}>{body}</div>;
  return (
    <div className="code">
      <header>
        <span>{name ?? language}</span>
        <span className="grow" />
        <Copy text={text} className="copybtn" named small />
      </header>
      {body}
    </div>
  );
}

/** Lines are laid out in groups: a new line then moves nothing but its own group. */
const GROUP = 40;

function Lines({ text, language, numbered }: { text: string; language: string; numbered: boolean }) {
  const painted = usePainted(text, language);
  const lines = useMemo(() => text.split("\n"), [text]);
  const groups = [];
  for (let start = 0; start < lines.length; start += GROUP)
    groups.push(<Group key={start} lines={lines.slice(start, start + GROUP)} tokens={painted.slice(start, start + GROUP)} numbered={numbered} />);
  return groups;
}

interface GroupProps {
  lines: readonly string[];
  tokens: readonly Token[][];
  /** Each line is a box: it has a number, however many lines of the screen it takes. */
  numbered: boolean;
}

const Group = memo(
  function Group({ lines, tokens, numbered }: GroupProps) {
    return (
      <span className="group">
        {lines.map((line, index) => {
          const row = <Line key={index} text={line} tokens={tokens[index]} last={index === lines.length - 1} />;
          return numbered ? <span key={index} className="line">{row}</span> : row;
        })}
      </span>
    );
  },
  (before, after) => before.numbered === after.numbered && same(before.lines, after.lines) && same(before.tokens, after.tokens),
);

function same<T>(one: readonly T[], other: readonly T[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index]);
}

interface LineProps {
  text: string;
  tokens: Token[] | undefined;
  last: boolean;
}

const Line = memo(function Line({ text, tokens, last }: LineProps) {
  // The group ends a line by itself, but not one that is empty.
  const end = last && text !== "" ? "" : "\n";
  if (isDense(text)) return strands(drawn(text) + end);
  if (!tokens || unspaced(text) > LONG_UNSPACED) return strands(text + end);
  // Colours come a moment after the words: words without colours follow those that have them.
  const known = tokens.reduce((sum, token) => sum + token.text.length, 0);
  if (!text.startsWith(tokens.map((token) => token.text).join(""))) return strands(text + end);
  return (
    <>
      {tokens.map((token, index) =>
        token.kind === "" ? (
          strands(token.text)
        ) : (
          <span key={index} className={token.kind}>
            {strands(token.text)}
          </span>
        ),
      )}
      {strands(text.slice(known) + end)}
    </>
  );
});

function usePainted(text: string, language: string): readonly Token[][] {
  const painter = useContext(PainterContext);
  const paper = useRef<Paper | null>(null);
  const [lines, setLines] = useState<readonly Token[][]>([]);
  useEffect(() => {
    if (language === "" || language === "text" || language === "plain" || language === "txt") return;
    const opened = painter.open(language, setLines);
    paper.current = opened;
    return () => {
      opened.close();
      paper.current = null;
      setLines([]);
    };
  }, [painter, language]);
  useEffect(() => paper.current?.paint(text), [text, painter, language]);
  return lines;
}
