import { useCallback, type RefObject } from "react";

import { ExactNumber, readJson, writeJson } from "../../api/json";
import { hiddenIn } from "../../log/hidden";
import { shownLine } from "../../log/shown";
import { useReading } from "../../rich/useReading";
import { useWords } from "../../words/words";
import { useUnread } from "./Box";

type Args = Record<string, unknown>;
type Texts = Record<string, string>;

/** More arguments than this are edited as one text: each field costs the browser time. */
const MOST = 200;
/** The name of this text. */
const ALL = "";

const areMany = (args: Args): boolean => Object.keys(args).length > MOST;

/** Each argument as the text that is edited: a string as it is, anything else as JSON. */
export function textsOf(args: Args): Texts {
  if (areMany(args)) return { [ALL]: writeJson(args, 2) };
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [name, typeof value === "string" ? value : writeJson(value, 2)]));
}

/** The arguments of the edited texts, or the name of the one that is not valid JSON. */
export function argumentsFrom(before: Args, texts: Texts): { args: Args; wrong: string | null } {
  if (areMany(before)) {
    const args = objectIn(texts[ALL] ?? "");
    return args ? { args, wrong: null } : { args: before, wrong: ALL };
  }
  const given: [string, unknown][] = [];
  for (const [name, text] of Object.entries(texts)) {
    try {
      given.push([name, typeof before[name] === "string" ? text : readJson(text)]);
    } catch {
      return { args: before, wrong: name };
    }
  }
  // Not by assignment: that would lose an argument with the name `__proto__`.
  return { args: Object.fromEntries(given), wrong: null };
}

/** The object that a text is, if it is one. */
function objectIn(text: string): Args | null {
  try {
    const value = readJson(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber) ? (value as Args) : null;
  } catch {
    return null;
  }
}

const BREAK = /\r\n?/g;

/** What was typed, with the line breaks that the text had: a field knows only one kind of them. */
export function withBreaks(before: string, typed: string): string {
  if (!before.includes("\r")) return typed;
  const plain = before.replace(BREAK, "\n");
  const most = Math.min(plain.length, typed.length);
  let head = 0;
  while (head < most && plain[head] === typed[head]) head += 1;
  let tail = 0;
  while (tail < most - head && plain[plain.length - 1 - tail] === typed[typed.length - 1 - tail]) tail += 1;
  const own = /\r\n?|\n/.exec(before)?.[0] ?? "\n";
  const middle = typed.slice(head, typed.length - tail).replace(/\n/g, own);
  return before.slice(0, placeIn(before, head)) + middle + before.slice(placeIn(before, plain.length - tail));
}

/** Where in a text so many characters end, if each line break counts as one. */
function placeIn(text: string, characters: number): number {
  let at = 0;
  for (let n = 0; n < characters; n += 1) at += text[at] === "\r" && text[at + 1] === "\n" ? 2 : 1;
  return at;
}

interface ArgumentsProps {
  args: Args;
  texts: Texts;
  wrong: string | null;
  onChange: (texts: Texts) => void;
  first: RefObject<HTMLTextAreaElement | null>;
  /** They were read to their end before. */
  read: boolean;
}

/** So many kinds of hidden characters are named. */
const NAMED = 12;

export function Arguments({ args, texts, wrong, onChange, first, read }: ArgumentsProps) {
  const { say } = useWords();
  const many = areMany(args);
  const names = many ? [ALL] : Object.keys(args);
  return names.map((name, index) => {
    const text = texts[name] ?? "";
    const hidden = hiddenIn(text);
    const rows = Math.min(12, Math.max(2, text.split("\n").length, Math.ceil(text.length / 80)));
    return (
      <label key={name} className="field">
        <span className={names.length === 1 ? "sr" : "mono"}>{many ? say("allArguments") : shownLine(name)}</span>
        <Area
          {...(index === 0 ? { first } : {})}
          rows={name === "path" || name === "file_path" ? 1 : rows}
          bad={wrong === name}
          read={read}
          text={text}
          onChange={(value) => onChange({ ...texts, [name]: withBreaks(text, value) })}
        />
        {hidden.length > 0 ? (
          <span className="warn" role="status">
            {say("hiddenCharacters", hidden.slice(0, NAMED).join(" ") + (hidden.length > NAMED ? " …" : ""))}
          </span>
        ) : null}
        {wrong === name ? (
          <span className="fault" role="alert">
            {say("badJson")}
          </span>
        ) : null}
      </label>
    );
  });
}

interface AreaProps {
  first?: RefObject<HTMLTextAreaElement | null>;
  rows: number;
  bad: boolean;
  read: boolean;
  text: string;
  onChange: (text: string) => void;
}

/** The field of an argument. One that was not read before must be scrolled to its end once. */
function Area({ first, rows, bad, read, text, onChange }: AreaProps) {
  // What the person writes themselves they have seen: the text with which they begin counts.
  const { attach, look, unread } = useReading("");
  useUnread(unread && !read);
  const take = useCallback(
    (element: HTMLTextAreaElement | null) => {
      attach(element);
      if (first) first.current = element;
    },
    [attach, first],
  );
  return (
    <textarea ref={take} onScroll={look} className="cmd" rows={rows} spellCheck={false} aria-invalid={bad} value={text.replace(BREAK, "\n")} onChange={(event) => onChange(event.target.value)} />
  );
}
