// What the value says with which an operator's own graph asks: its words, the answers it offers, and everything else.
import { ExactNumber, writeJson } from "../../api/json";
import { shownLine } from "../../log/shown";

/** The members that may hold the words of a question, as the server knows them (`engine/texts.py`). The first one that does is taken. */
const WORDS = ["question", "message", "prompt", "instruction", "description", "text", "title", "info", "task"];
/** The members that may hold the answers to choose from. */
const CHOICES = ["choices", "options"];
/** More answers, and longer ones, are no list to choose from: they are shown like any other member. */
const MOST = 50;
const LONGEST = 200;
/** More members than this are shown as one text: each box costs the browser time. */
const FEW = 100;

export type Choice = string | number | ExactNumber;

export interface Asked {
  /** What is asked; empty if nothing says so. */
  words: string;
  /** What can be chosen: the answer is the value itself. */
  choices: Choice[];
  /** What else is to be read, each under its name. */
  members: [name: string, value: unknown][];
  /** What has no names, or too many: shown as JSON. */
  other: unknown;
}

/** What a question says. Nothing of its value is left out. */
export function readAsked(value: unknown): Asked {
  const none: Asked = { words: "", choices: [], members: [], other: undefined };
  if (typeof value === "string") return { ...none, words: value.trim() ? value : "" };
  if (value === null || value === undefined || (Array.isArray(value) && value.length === 0)) return none;
  if (typeof value !== "object" || Array.isArray(value) || value instanceof ExactNumber) return { ...none, other: value };
  const all = Object.entries(value) as [string, unknown][];
  const held = new Map(all);
  const said = WORDS.find((name) => isWords(held.get(name)));
  const offered = CHOICES.find((name) => isChoices(held.get(name)));
  const members = all.filter(([name]) => name !== said && name !== offered);
  const many = members.length > FEW;
  return {
    words: said === undefined ? "" : (held.get(said) as string),
    choices: offered === undefined ? [] : (held.get(offered) as Choice[]),
    members: many ? [] : members,
    other: many ? Object.fromEntries(members) : undefined,
  };
}

/** A choice as it is read. */
export const choiceText = (choice: Choice): string => (typeof choice === "string" ? choice : writeJson(choice));

const isWords = (value: unknown): boolean => typeof value === "string" && value.trim() !== "";

/** Whether these are answers to choose from. Two that look alike are none: nobody could tell the text `1` from the number. */
function isChoices(value: unknown): boolean {
  if (!Array.isArray(value) || value.length === 0 || value.length > MOST || !value.every(isChoice)) return false;
  return new Set(value.map((choice) => shownLine(choiceText(choice)).trim())).size === value.length;
}

function isChoice(value: unknown): value is Choice {
  return typeof value === "number" || value instanceof ExactNumber || (typeof value === "string" && value.trim() !== "" && value.length <= LONGEST);
}
