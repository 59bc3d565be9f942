// What is said of a pause that is over.
import type { Note } from "../api/types";
import type { Answered } from "../log/blocks";
import { shownLine } from "../log/shown";
import type { Key, Words } from "../words/words";
import { mainArgument, toolWords } from "./tools";

const OUTCOMES: Record<string, Key> = {
  approve: "youApproved",
  edit: "youEdited",
  reject: "youRefused",
  superseded: "youWentOn",
  cancelled: "youWentOn",
};

/** What the person did with a question. */
function deedOf({ asked, outcome, always }: Note): Key {
  if (asked === "confirmation" && (outcome === "fields" || outcome === "reject")) return outcome === "fields" ? "youConfirmed" : "youDidNotConfirm";
  if (asked === "questions" && outcome === "reject") return "youDidNotAnswer";
  if (always && (outcome === "approve" || outcome === "edit")) return outcome === "edit" ? "youEditedAlways" : "youAlways";
  return OUTCOMES[outcome ?? ""] ?? "youAnswered";
}

/** How long it was, and what the person did. Where they did several things, each is named with what it was about. */
export function pauseText(pauses: readonly Answered[], words: Words): string {
  const { say, span } = words;
  const ms = Math.max(...pauses.map(({ note }) => note.ms ?? -1));
  const long = ms < 0 ? "" : span(Math.max(1000, Math.round(ms / 1000) * 1000));
  const deeds = new Map<string, string[]>();
  const names = namesOf(pauses, words);
  for (const [index, { note }] of pauses.entries()) {
    const deed = say(deedOf(note), shownLine(note.tool ?? ""));
    deeds.set(deed, [...(deeds.get(deed) ?? []), names[index] ?? ""]);
  }
  const told = [...deeds].map(([deed, things]) => {
    const about = things.filter(Boolean).join(", ");
    return deeds.size === 1 || about === "" ? deed : say("youDid", deed, about);
  });
  return [say("paused", long), ...told].join(" · ");
}

/** What each of these was about, all named in one way: calls of one tool by what they are for, others by their tool as well. */
function namesOf(pauses: readonly Answered[], { say }: Words): string[] {
  const tools = pauses.map(({ note, tool }) => tool?.name ?? note.tool ?? "");
  const mains = pauses.map(({ tool }) => (tool ? mainArgument(tool.name, tool.args) : ""));
  if (new Set(tools).size === 1 && mains.every(Boolean)) return mains;
  return tools.map((name, index) => {
    const known = toolWords(name);
    return [known ? say(known) : shownLine(name), mains[index]].filter(Boolean).join(" ");
  });
}
