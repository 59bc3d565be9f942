// What a question is about, in one line.
import type { Interrupt } from "../../api/types";
import { shownLine } from "../../log/shown";
import type { Key, Words } from "../../words/words";

export function titleOf(interrupt: Interrupt, { say, language }: Words): string {
  const agent = shownLine(interrupt.agent);
  switch (interrupt.kind) {
    case "approval":
      if (interrupt.unknown) return say("askAgain");
      if (interrupt.name === "execute") return say("askRun");
      if (interrupt.name === "write_file") return say("askWrite");
      if (interrupt.name === "web_fetch") return say("askFetch");
      return say("askTool", shownLine(interrupt.name ?? interrupt.label));
    case "questions":
      return interrupt.questions.length === 1 && language === "en" ? say("questionTitle", agent) : say("questionsTitle", agent, interrupt.questions.length);
    case "confirmation":
      return say("confirmTitle");
    case "graph":
      return say("graphTitle", agent);
  }
}

/** What happened, for a decision of somebody. */
export function decisionWord(decision: string | null): Key {
  switch (decision) {
    case "approve":
      return "approvedWord";
    case "edit":
      return "editedWord";
    case "reject":
      return "refusedWord";
    default:
      return "respondedWord";
  }
}
