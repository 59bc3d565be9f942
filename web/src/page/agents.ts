// What is said of the agents that ship, in the language of the page. An operator's own words stay as they are.
import type { Agent } from "../api/types";
import { shownLine } from "../log/shown";
import type { Key, Words } from "../words/words";

/** The words of the files that ship. */
export const SHIPPED: Record<string, { says: string; words: Key }> = {
  assistant: { says: "Answers, asks, works with files, runs commands and writes artifacts.", words: "agentAssistant" },
  "approval-agent": { says: "Asks for a confirmation before anything that cannot be undone.", words: "agentApproval" },
  lead_agent: { says: "Researches a topic with two sub-agents and writes the result as an artifact.", words: "agentLead" },
  search_agent: { says: "Searches the web and says what it found, with addresses.", words: "agentSearch" },
  crawl_agent: { says: "Reads web pages, after the person has allowed it, and says what they contain.", words: "agentCrawl" },
};

export function agentText({ name, description }: Pick<Agent, "name" | "description">, { say }: Words): string {
  const shipped = Object.hasOwn(SHIPPED, name) ? SHIPPED[name] : undefined;
  return shipped?.says === description.trim() ? say(shipped.words) : shownLine(description);
}
