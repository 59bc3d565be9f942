// Code as coloured pieces. Runs in the worker.
import { createHighlighterCore, type GrammarState, type HighlighterCore, type ThemeRegistration } from "shiki/core";
import { createJavaScriptRegexEngine } from "shiki/engine/javascript";

import { load } from "./languages";
import type { Token } from "./token";

/** Longer lines have no colours. */
const LINE = 1000;
/** Milliseconds for a line: less than the page waits for the worker. A busy machine needs long for the first one. */
const PATIENCE = 2000;

// The colours stand for the classes of the page's style: no style attribute is ever written.
const CLASSES: Record<string, Token["kind"]> = { "#000001": "k", "#000002": "q", "#000003": "n", "#000004": "f", "#000005": "c" };
const PAINT = (foreground: string, ...scope: string[]) => ({ scope, settings: { foreground } });
const THEME: ThemeRegistration = {
  name: "page",
  type: "light",
  fg: "#000000",
  bg: "#ffffff",
  settings: [
    { settings: { foreground: "#000000", background: "#ffffff" } },
    PAINT("#000001", "keyword", "storage", "entity.name.tag", "markup.deleted", "punctuation.definition.heading", "markup.bold"),
    PAINT("#000000", "keyword.operator.assignment", "keyword.operator.type", "keyword.operator.accessor"),
    PAINT("#000002", "string", "string.regexp", "markup.inserted", "markup.inline.raw", "constant.character.escape"),
    PAINT("#000003", "constant.numeric", "constant.language", "constant.other", "support.constant", "variable.language", "keyword.other.unit"),
    PAINT("#000004", "entity.name.function", "support.function", "entity.name.type", "entity.name.class", "support.type", "support.class", "entity.other.attribute-name", "support.type.property-name", "meta.object-literal.key", "markup.heading", "markup.underline.link", "variable.function"),
    PAINT("#000005", "comment", "punctuation.definition.comment", "markup.quote", "meta.diff.header"),
  ],
};

interface Done {
  text: string;
  tokens: Token[];
  /** The state of the grammar after this line. */
  after: GrammarState | undefined;
}

/** Highlights one text, and when it has grown only its new lines. */
export class Sheet {
  private lines: Done[] = [];

  constructor(
    private readonly highlighter: HighlighterCore,
    private readonly language: string,
  ) {}

  /** The lines that differ from those of the last time, and the number of the first of them. */
  update(text: string): { from: number; lines: Token[][] } {
    const all = text.split("\n");
    let from = 0;
    while (from < all.length - 1 && from < this.lines.length && this.lines[from]?.text === all[from]) from += 1;
    this.lines.length = from;
    for (const line of all.slice(from)) this.lines.push(this.line(line, this.lines.at(-1)?.after));
    return { from, lines: this.lines.slice(from).map((done) => done.tokens) };
  }

  private line(text: string, state: GrammarState | undefined): Done {
    if (text.length > LINE) return { text, tokens: [{ text, kind: "" }], after: state };
    const options = { lang: this.language, theme: "page", tokenizeTimeLimit: PATIENCE, ...(state ? { grammarState: state } : {}) };
    const found = this.highlighter.codeToTokensBase(text, options);
    const tokens: Token[] = [];
    for (const token of found[0] ?? []) {
      const kind = CLASSES[token.color?.toLowerCase() ?? ""] ?? "";
      const last = tokens.at(-1);
      if (last?.kind === kind) last.text += token.content;
      else tokens.push({ text: token.content, kind });
    }
    return { text, tokens, after: this.highlighter.getLastGrammarState(found) };
  }
}

export class Highlighter {
  private core: Promise<HighlighterCore> | null = null;

  /** A sheet for a text of this language, or null if nobody knows the language. */
  async sheet(language: string): Promise<Sheet | null> {
    const loading = load(language);
    if (loading === null) return null;
    this.core ??= createHighlighterCore({ themes: [THEME], langs: [], engine: createJavaScriptRegexEngine({ forgiving: true }) });
    const core = await this.core;
    await core.loadLanguage(...(await loading).default);
    return new Sheet(core, language);
  }
}
