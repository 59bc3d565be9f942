// Formulas in markdown: \(…\), \[…\], $$…$$ and $…$. A price, a shell variable and a bracket that was escaped are none.
import type { Code, Construct, Effects, Extension, State, TokenizeContext } from "micromark-util-types";

import { LONGEST } from "./weight";

declare module "micromark-util-types" {
  interface TokenTypeMap {
    formula: "formula";
    formulaText: "formulaText";
  }
}

const [DOLLAR, SLASH, ROUND, SQUARE] = [36, 92, 40, 91] as const;
const CLOSERS: Record<number, number> = { [ROUND]: 41, [SQUARE]: 93 };

/** Signs that prose does not have. */
const SIGN = /[\\^_=+<>{}|*/×·≤≥≈∈∑∫√]/;
/** Two words in a row. */
const WORDS = /\p{L}{3,}\s+\p{L}{2,}/u;

const isEnd = (code: Code): boolean => code !== null && code < -2;
const isBlank = (code: Code): boolean => code !== null && (code < 0 || code === 32);
const isWord = (code: Code): boolean => code !== null && /[\p{L}\p{N}]/u.test(String.fromCharCode(Math.max(code, 0)));
const charOf = (code: number): string => (code < -2 ? "\n" : code < 0 ? " " : String.fromCharCode(code));

/** Collects what is between two marks. */
class Inside {
  text = "";
  private open = false;

  constructor(private readonly effects: Effects) {}

  take(code: number): void {
    if (isEnd(code)) {
      this.close();
      this.effects.enter("lineEnding");
      this.effects.consume(code);
      this.effects.exit("lineEnding");
    } else {
      if (!this.open) this.effects.enter("formulaText");
      this.open = true;
      this.effects.consume(code);
    }
    this.text += charOf(code);
  }

  close(): void {
    if (this.open) this.effects.exit("formulaText");
    this.open = false;
  }
}

/** `$…$` or `$$…$$`. Another `$` ends it in any case, so that no text is read twice. */
function tokenizeDollar(this: TokenizeContext, effects: Effects, ok: State, nok: State): State {
  const before = this.previous;
  const inner = new Inside(effects);
  let marks = 0;
  const start: State = (code) => {
    if (isWord(before) || before === DOLLAR || before === SLASH) return nok(code);
    effects.enter("formula");
    return opening(code);
  };
  const opening: State = (code) => {
    if (code === DOLLAR) {
      marks += 1;
      if (marks > 2) return nok(code);
      effects.enter("formulaText");
      effects.consume(code);
      effects.exit("formulaText");
      return opening;
    }
    return marks === 1 && isBlank(code) ? nok(code) : next(code);
  };
  const next: State = (code) => {
    if (code === null || inner.text.length > LONGEST || (isEnd(code) && marks === 1)) return nok(code);
    if (code === DOLLAR) {
      inner.close();
      return closing(code);
    }
    inner.take(code);
    return code === SLASH ? escaped : next;
  };
  const escaped: State = (code) => {
    if (code === null || isEnd(code)) return next(code);
    inner.take(code);
    return next;
  };
  let seen = 0;
  const closing: State = (code) => {
    if (code === DOLLAR && seen < marks) {
      seen += 1;
      effects.enter("formulaText");
      effects.consume(code);
      effects.exit("formulaText");
      return closing;
    }
    const whole = seen === marks && code !== DOLLAR && inner.text.trim() !== "";
    if (!whole || (marks === 1 && (isWord(code) || !isFormula(inner.text)))) return nok(code);
    effects.exit("formula");
    return ok(code);
  };
  return start;
}

/** Whether the words between two dollar signs are meant as a formula. */
function isFormula(text: string): boolean {
  return !/\s$/.test(text) && (SIGN.test(text) ? !WORDS.test(text.replace(/\\[a-z]+\s*\{[^}]*\}/gi, "")) : !/\s/.test(text));
}

/** `\(…\)` or `\[…\]`. Another beginning ends it. */
function tokenizeSlash(this: TokenizeContext, effects: Effects, ok: State, nok: State): State {
  const inner = new Inside(effects);
  let opener = 0;
  const start: State = (code) => {
    effects.enter("formula");
    effects.enter("formulaText");
    effects.consume(code);
    return opening;
  };
  const opening: State = (code) => {
    if (code !== ROUND && code !== SQUARE) return nok(code);
    opener = code;
    effects.consume(code);
    effects.exit("formulaText");
    return next;
  };
  const next: State = (code) => {
    if (code === null || inner.text.length > LONGEST) return nok(code);
    inner.take(code);
    return code === SLASH ? escaped : next;
  };
  const escaped: State = (code) => {
    if (code === null || code === opener) return nok(code);
    if (isEnd(code)) return next(code);
    inner.take(code);
    if (code !== CLOSERS[opener]) return next;
    if (!isMeant(inner.text.slice(0, -2), opener)) return nok;
    inner.close();
    effects.exit("formula");
    return ok;
  };
  return start;
}

/** Escaped brackets around words are brackets. */
function isMeant(text: string, opener: number): boolean {
  return text.trim() !== "" && (SIGN.test(text) || (opener === ROUND && !WORDS.test(text)));
}

const dollar: Construct = { name: "formula", tokenize: tokenizeDollar };
const slash: Construct = { name: "formula", tokenize: tokenizeSlash };

export const formulas: Extension = { text: { [DOLLAR]: dollar, [SLASH]: slash } };
