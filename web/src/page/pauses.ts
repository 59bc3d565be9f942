// What is said of a pause that is over.
import type { Note } from "../api/types";
import type { Answered } from "../log/blocks";
import { shownLine } from "../log/shown";
import type { Key, Words } from "../words/words";
import { mainArgument } from "./tools";

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
export function pauseText(pauses: readonly Answered[], { say, span }: Words): string {
  const ms = Math.max(...pauses.map(({ note }) => note.ms ?? -1));
  const long = ms < 0 ? "" : span(Math.max(1000, Math.round(ms / 1000) * 1000));
  const deeds = new Map<string, string[]>();
  for (const { note, tool } of pauses) {
    const deed = say(deedOf(note), shownLine(note.tool ?? ""));
    deeds.set(deed, [...(deeds.get(deed) ?? []), (tool && mainArgument(tool.name, tool.args)) || shownLine(note.tool ?? "")]);
  }
  const told = [...deeds].map(([deed, things]) => (deeds.size === 1 ? deed : say("youDid", deed, things.filter(Boolean).join(", "))));
  return [say("paused", long), ...told].join(" · ");
}
