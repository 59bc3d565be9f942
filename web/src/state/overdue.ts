// An answered question goes away when its turn goes on. If it stays, the page asks the server what became of it: nobody waits in front
// of a question that cannot be answered.
import * as api from "../api/calls";
import { forgetAnswer, useAnswers } from "./answers";
import { reload } from "./opening";
import { useThread } from "./thread";

/** Milliseconds after which an answered question is overdue; each next look waits twice as long, up to the longest wait. */
export const DUE = 5000;
const LONGEST = 60_000;

let timer: ReturnType<typeof setTimeout> | undefined;
let wait = DUE;
let watched = "";

/** Looks after the questions that the person has answered. */
export function followOverdue(): () => void {
  const ends = [useThread.subscribe(look), useAnswers.subscribe(look)];
  look();
  return () => {
    for (const end of ends) end();
    clearTimeout(timer);
    watched = "";
  };
}

/** The open questions of the turn, if all of them were answered here: then it should go on. */
function answered(): string[] {
  const pending = useThread.getState().entries.at(-1)?.log.pending ?? [];
  const given = useAnswers.getState();
  return pending.every(({ id }) => given[id]?.phase === "given") ? pending.map(({ id }) => id) : [];
}

function look(): void {
  const ids = answered().join(" ");
  if (ids === watched) return;
  watched = ids;
  wait = DUE;
  plan();
}

function plan(): void {
  clearTimeout(timer);
  if (watched) timer = setTimeout(() => void ask(), wait);
}

async function ask(): Promise<void> {
  const asked = watched;
  const ids = asked.split(" ");
  const found = await Promise.all(ids.map((id) => api.interrupt(id).catch(() => null)));
  if (asked !== watched) return;
  const open = ids.filter((_, index) => found[index]?.status === "pending" && found[index].answer === null);
  // The server does not have the answer: it can be given again.
  if (open.length > 0) return open.forEach(forgetAnswer);
  if (found.some((item) => item !== null)) await reload();
  if (asked !== watched) return;
  wait = Math.min(wait * 2, LONGEST);
  plan();
}
