import { Component, memo, useCallback, useId, useMemo, useRef, type ReactNode } from "react";
import type { Root } from "mdast";
import ReactMarkdown from "react-markdown";

import { useWords } from "../../words/words";
import { AsIs } from "../AsIs";
import { Code } from "../code/Code";
import { HEAVIEST, weightOf } from "../math/weight";
import { cut, EMPTY, read, whole, type Block, type Blocks } from "./blocks";
import { caret } from "./caret";
import { ELEMENTS } from "./elements";
import { fenced } from "./fence";
import { EASY, hardness } from "./hardness";
import { mend } from "./mend";
import { pause, usePaced } from "./paced";

export interface MarkdownProps {
  text: string;
  /** Words still arrive: only the last block is drawn again, and the caret stands after the last word. */
  live?: boolean;
  mark?: TextMark | null;
}

/** A sign that stands before the block in which this character is. */
export interface TextMark {
  after: number;
  sign: ReactNode;
}

const PLAIN: [] = [];
const CARET = [caret];

export function Markdown({ text, live = false, mark = null }: MarkdownProps) {
  const last = useRef(0);
  const wait = useCallback(() => pause(last.current), []);
  const measure = useCallback((length: number) => {
    last.current = length;
  }, []);
  const shown = usePaced(text, live, wait);
  return <Rendered text={shown} live={live} mark={mark} onLast={measure} />;
}

interface RenderedProps {
  text: string;
  live: boolean;
  mark: TextMark | null;
  /** Is told how long the last block is. */
  onLast: (length: number) => void;
}

const Rendered = memo(function Rendered({ text, live, mark, onLast }: RenderedProps) {
  const { say } = useWords();
  const id = useId();
  const known = useRef<Blocks>(EMPTY);
  const looked = useRef(EASY);
  const found = useMemo(() => {
    // What is remembered only saves work: the result is the same without it.
    looked.current = hardness(text, looked.current);
    if (looked.current.hard) return null;
    known.current = cut(text, known.current);
    return repeats(known.current, looked.current.brackets) || calculates(known.current) ? null : known.current;
  }, [text]);
  const last = found?.blocks.at(-1);
  onLast(found === null ? text.length : last && fenced(last.source) ? 0 : (last?.source.length ?? 0));
  if (found === null)
    return (
      <>
        {mark?.sign}
        <p className="quiet told">{say("tooHard")}</p>
        <Plain text={text} />
      </>
    );
  const { blocks, definitions } = found;
  // Footnotes are numbered over the whole text.
  if (!live && blocks.some((block) => block.footnotes))
    return (
      <>
        {mark?.sign}
        <div className="prose">
          <Piece source={text} nodes={null} live={false} name={id} />
        </div>
      </>
    );
  const place = mark ? placeOf(blocks, mark.after) : 0;
  return (
    <>
      {place > 0 ? (
        <div className="prose">
          <Pieces blocks={blocks.slice(0, place)} definitions={definitions} live={false} name={id} />
        </div>
      ) : null}
      {mark?.sign}
      <div className="prose">
        <Pieces blocks={place > 0 ? blocks.slice(place) : blocks} definitions={definitions} live={live} name={id} />
        {live && blocks.length === 0 ? <span className="caret" /> : null}
      </div>
    </>
  );
});

/** A block is parsed with the definitions that it names: so many characters of them at the most. */
const DEFINED = 3_000_000;

function repeats({ definitions }: Blocks, names: number): boolean {
  let longest = 0;
  for (const source of definitions.values()) longest = Math.max(longest, source.length);
  return names * longest > DEFINED;
}

/** Whether the formulas of a text are too much work. */
function calculates({ blocks }: Blocks): boolean {
  let weight = 0;
  for (const block of blocks) weight += weightOf(block);
  return weight > HEAVIEST;
}

/** The number of blocks that were read to their end. */
function placeOf(blocks: readonly Block[], after: number): number {
  const next = blocks.findIndex(({ start, source }) => start + source.trimEnd().length > after);
  return next < 0 ? blocks.length : next;
}

/** So many blocks are compared at once, instead of one by one. */
const GROUP = 16;

interface PiecesProps {
  blocks: readonly Block[];
  definitions: Blocks["definitions"];
  live: boolean;
  name: string;
}

/** Blocks in groups: a group is drawn again only if something in it changed. */
function Pieces({ blocks, definitions, live, name }: PiecesProps) {
  const groups = [];
  for (let start = 0; start < blocks.length; start += GROUP)
    groups.push(
      <Group key={start} blocks={blocks.slice(start, start + GROUP)} definitions={definitions} live={live && start + GROUP >= blocks.length} name={name} />,
    );
  return groups;
}

/** The last block of a group may still be written. */
const Group = memo(
  function Group({ blocks, definitions, live, name }: PiecesProps) {
    const last = blocks.at(-1);
    return blocks.map((block) => {
      const source = whole(block, definitions);
      return <Piece key={block.start} source={source} nodes={source === block.source ? block.nodes : null} live={live && block === last} name={name} />;
    });
  },
  (before, after) =>
    before.live === after.live &&
    before.definitions === after.definitions &&
    before.name === after.name &&
    before.blocks.length === after.blocks.length &&
    before.blocks.every((block, index) => block === after.blocks[index]),
);

interface PieceProps {
  source: string;
  /** What the parser made of the source, where that is known. */
  nodes: Block["nodes"];
  live: boolean;
  name: string;
}

const Piece = memo(
  function Piece({ source, nodes, live, name }: PieceProps) {
    const { say } = useWords();
    const options = useMemo(() => ({ clobberPrefix: `${name}-`, footnoteLabel: say("footnotes"), footnoteLabelProperties: { className: ["sr"] }, footnoteBackLabel: (index: number) => say("footnoteBack", index + 1) }), [name, say]);
    const shown = live ? mend(source) : source;
    const code = live ? fenced(shown) : null;
    if (code) return <Code text={code.text} live {...(code.language ? { language: code.language } : {})} />;
    return (
      <Careful text={source}>
        <ReactMarkdown remarkPlugins={[[given, { nodes: shown === source ? nodes : null }]]} rehypePlugins={live ? CARET : PLAIN} components={ELEMENTS} remarkRehypeOptions={options} urlTransform={asIs}>
          {shown}
        </ReactMarkdown>
      </Careful>
    );
  },
  // The nodes follow from the source.
  (before, after) => before.source === after.source && before.live === after.live && before.name === after.name,
);

/** Takes the nodes that are known already in place of parsing again. */
function given(this: { parser?: unknown }, { nodes }: { nodes: Block["nodes"] }): void {
  this.parser = (source: string): Root => (nodes ? { type: "root", children: [...nodes] } : read(source));
}

/** Every element checks the addresses that it uses. */
function asIs(address: string): string {
  return address;
}

function Plain({ text }: { text: string }) {
  return <div className="prose as-is"><AsIs text={text} /></div>;
}

/** A block that cannot be drawn is shown as it was written. */
class Careful extends Component<{ text: string; children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override render(): ReactNode {
    return this.state.failed ? <Plain text={this.props.text} /> : this.props.children;
  }
}
