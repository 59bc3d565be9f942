// Markdown cut into its outermost blocks. While a text grows, only its last block can change, so only that is parsed again.
import type { Definition, Nodes, Root, RootContent } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";

import { formulas } from "../math/syntax";
import { formulaTree } from "../math/tree";

type Syntax = ReturnType<typeof gfm>;

export interface Block {
  /** Where it begins in the text: also its name for as long as the text only grows. */
  start: number;
  source: string;
  /** The link definitions in it: their normal names and sources. */
  defines: readonly (readonly [name: string, source: string])[];
  footnotes: boolean;
  /** What the parser made of it; null where its end was not parsed yet. */
  nodes: readonly RootContent[] | null;
}

export interface Blocks {
  text: string;
  blocks: readonly Block[];
  /** The definitions of all blocks: the first one of a name holds for the whole text. */
  definitions: ReadonlyMap<string, string>;
}

export const EMPTY: Blocks = { text: "", blocks: [], definitions: new Map() };

const EXTENSIONS = { extensions: [gfm(), formulas], mdastExtensions: [gfmFromMarkdown(), formulaTree] };
/** The same without addresses that are links by themselves: to look for them at every letter is a third of the work. */
const UNLINKED = { extensions: [unlinked(gfm()), formulas], mdastExtensions: [gfmFromMarkdown().filter((extension) => !extension.transforms), formulaTree] };
// Without one of these no address can stand in a text, also none with escaped signs.
const ADDRESS = /[@&\\]|www|https?:/i;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/** The blocks of a text. If it continues the text of `known`, the blocks of that which cannot change are taken over. */
export function cut(text: string, known: Blocks = EMPTY): Blocks {
  const settled = known.blocks.slice(0, settledIn(known));
  const first = known.blocks[settled.length];
  if (!first || !text.startsWith(known.text)) return joined(text, parse(text, 0), EMPTY);
  if (text.length === known.text.length) return known;
  const tail = text.slice(first.start);
  if (settled.length === known.blocks.length - 1 && onlyGrows(first, tail)) return { ...known, text, blocks: [...settled, { ...first, source: tail, nodes: null }] };
  return joined(text, [...settled, ...parse(tail, first.start)], known);
}

/** Whether the block is sure to be the same one, only longer. Most words need no parser to know that. */
function onlyGrows(block: Block, tail: string): boolean {
  if (openFence(tail)) return true;
  const { source } = block;
  // Without a line break, the words after the beginning of a line change nothing outside it.
  if (/[\n\r]/.test(tail.slice(source.length)) || /[\n\r]$/.test(source) || DEFINES.test(source)) return false;
  return !UNDECIDED.test(source.slice(lineStart(source, source.length)));
}

// A line whose first signs do not tell yet to which block it belongs: `2` may become the next item of the list above.
const UNDECIDED = /^[ \t>]*(?:[-+*_=#|:.)\d[\]^ \t]*$|[`~<])/;

// A line that may define where a link leads.
const DEFINES = /^[ \t>*+\-\d.)]*\[/m;

/** The last block can change; the one before it, too, while the last line may yet belong to it. */
function settledIn({ text, blocks }: Blocks): number {
  const last = blocks.length - 1;
  const line = lineStart(text, text.length);
  const undecided = (blocks[last]?.start ?? 0) >= line && UNDECIDED.test(text.slice(line));
  return Math.max(undecided ? last - 1 : last, 0);
}

/** Long code arrives line by line, and need not be parsed to know that it goes on. */
function openFence(source: string): boolean {
  const fence = FENCE.exec(source)?.[1];
  const end = source.indexOf("\n");
  if (!fence || end < 0) return false;
  return !new RegExp(`^ {0,3}${fence[0] === "~" ? "~" : "`"}{${fence.length},}[ \\t]*$`, "m").test(source.slice(end + 1));
}

export function read(source: string): Root {
  return fromMarkdown(source, ADDRESS.test(source) ? EXTENSIONS : UNLINKED);
}

/** The syntax without the constructs that find addresses. */
function unlinked({ text = {}, ...rest }: Syntax): Syntax {
  const kept = Object.entries(text).map(([code, found]) => [code, [found ?? []].flat().filter(({ name }) => !name?.endsWith("Autolink"))] as const);
  return { ...rest, text: Object.fromEntries(kept.filter(([, found]) => found.length > 0)) };
}

function parse(tail: string, from: number): Block[] {
  const starts: number[] = [];
  const nodes: RootContent[][] = [];
  let defined = false;
  for (const node of read(tail).children) {
    // The line after a definition may be its title: they stay together.
    if (!defined) {
      starts.push(lineStart(tail, node.position?.start.offset ?? 0));
      nodes.push([]);
    }
    nodes.at(-1)?.push(node);
    defined = node.type === "definition";
  }
  return starts.map((start, index) => {
    const source = tail.slice(start, starts[index + 1] ?? tail.length);
    const own = nodes[index] ?? [];
    const inner = own.flatMap(definitionsIn);
    const defines = inner.flatMap((node) => (node.type === "definition" ? [[node.identifier, sourceOf(node)] as const] : []));
    return { start: from + start, source, defines, footnotes: inner.some((node) => node.type === "footnoteDefinition"), nodes: own };
  });
}

/** The white space before a block belongs to it: indented code is code because of it. */
function lineStart(text: string, offset: number): number {
  return Math.max(text.lastIndexOf("\n", offset - 1), text.lastIndexOf("\r", offset - 1)) + 1;
}

function definitionsIn(node: Nodes): Nodes[] {
  if (node.type === "definition") return [node];
  const own = node.type === "footnoteDefinition" ? [node] : [];
  const holds = node.type === "blockquote" || node.type === "list" || node.type === "listItem" || node.type === "footnoteDefinition";
  return holds ? [...own, ...(node.children as Nodes[]).flatMap(definitionsIn)] : own;
}

/** Written anew, because its own source may have the marks of a quote in it. */
function sourceOf({ identifier, url, title }: Definition): string {
  const escaped = (text: string) => text.replace(/[\\&<>"]/g, "\\$&").replace(/\s/g, " ");
  return `[${identifier}]: <${escaped(url)}>${title ? ` "${escaped(title)}"` : ""}`;
}

function joined(text: string, blocks: readonly Block[], known: Blocks): Blocks {
  const definitions = new Map<string, string>();
  for (const block of blocks) for (const [name, source] of block.defines) if (!definitions.has(name)) definitions.set(name, source);
  const same = definitions.size === known.definitions.size && [...definitions].every(([name, source]) => known.definitions.get(name) === source);
  return { text, blocks, definitions: same ? known.definitions : definitions };
}

const LABEL = /\[((?:[^[\]\\]|\\.){1,300})\]/g;

/** A block with those definitions after it that it may refer to. */
export function whole(block: Block, definitions: ReadonlyMap<string, string>): string {
  if (definitions.size === 0 || !block.source.includes("[")) return block.source;
  const used = new Set<string>();
  for (const [, label = ""] of block.source.matchAll(LABEL)) {
    const found = definitions.get(nameOf(label));
    if (found !== undefined) used.add(found);
  }
  for (const [, source] of block.defines) used.delete(source);
  return used.size === 0 ? block.source : `${block.source}\n\n${[...used].join("\n\n")}`;
}

/** The name of a label as the parser has it. */
function nameOf(label: string): string {
  return label.replace(/[\t\n\r ]+/g, " ").trim().toLowerCase().toUpperCase().toLowerCase();
}
