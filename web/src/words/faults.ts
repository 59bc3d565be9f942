// Why something was not done, in the words of the page. The server says the same in English, and says more where it must: its
// own text is shown for a code that is not here.
import type { ApiError } from "../api/client";
import { shownLine } from "../log/shown";
import type { Key, Words } from "./words";

const REFUSALS: Record<string, Key> = {
  username_taken: "nameTaken",
  bad_username: "nameRule",
  bad_password: "passwordRule",
  registration_closed: "registrationClosed",
  bad_invite: "inviteWrong",
  unauthenticated: "signInAgain",
  revoked: "signInAgain",
  forbidden: "notAllowed",
  not_found: "gone",
  run_in_progress: "alreadyWriting",
  too_soon: "sendAgain",
  interrupt_pending: "questionWaits",
  nothing_pending: "closedElsewhere",
  already_answered: "closedElsewhere",
  outdated: "movedOn",
  conflict: "movedOn",
  key_reused: "movedOn",
  too_large: "tooLarge",
  too_many_conversations: "tooManyConversations",
  storage_full: "storageFull",
  too_many_requests: "tooManyRequests",
  too_much_unread: "tooManyRequests",
  too_many_runs: "tooManyRuns",
  too_many_questions: "tooManyQuestions",
  unavailable: "cannotStore",
  internal: "serverFault",
  agent_changed: "agentChanged",
};

/** Why a turn failed. */
const FAILURES: Record<string, Key> = {
  model: "modelFault",
  model_unavailable: "modelMissing",
  steps: "stepsFault",
  turn_bytes: "saidTooMuch",
  state_bytes: "stateTooLarge",
  questions: "askedTooMuch",
  unwritable: "notStored",
  timeout: "tookTooLong",
  agent_changed: "agentChanged",
  storage_full: "storageFull",
  internal: "serverFault",
};

/** Why the server did not do something. */
export function refusalText(error: ApiError, { say }: Words): string {
  // Which part of an answer does not fit no code can say.
  if (error.code === "bad_answer") return `${say("answerUnfit")} (${shownLine(error.message)})`;
  const key = of(REFUSALS, error.code);
  if (key) return say(key);
  if (error.unreachable) return say(error.code === "unanswered" ? "unanswered" : "noServer");
  if (error.status >= 500) return say("serverFault");
  return sentence(shownLine(error.message));
}

/** The server's words for a model that said nothing at all. One that broke off has the same code. */
const SILENT = /^the (?:agent's )?model is not available/;
const TOO_LONG = "the conversation is too long for the model";

/** What a failed turn is called. */
export function failureTitle(code: string | null, message: string | null, { say }: Words): string {
  if (!code?.startsWith("model")) return say("turnFailed");
  return say(code === "model_unavailable" || SILENT.test(message ?? "") ? "modelMissing" : message === TOO_LONG ? "turnFailed" : "failedHere");
}

/** Why a turn failed; empty if nobody knows. */
export function failureText(code: string | null, message: string | null, { say }: Words): string {
  if (code === "model" && SILENT.test(message ?? "")) return sentence(say("modelMissing"));
  if (code === "model" && message === TOO_LONG) return say("modelFull");
  const key = of(FAILURES, code ?? "");
  return key ? sentence(say(key)) : message ? sentence(shownLine(message)) : "";
}

function of(keys: Record<string, Key>, code: string): Key | undefined {
  return Object.hasOwn(keys, code) ? keys[code] : undefined;
}

/** The server's words as a sentence. */
export function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return begun === "" || /[.!?。！？]$/.test(begun) ? begun : begun + (/\p{Script=Han}$/u.test(begun) ? "。" : ".");
}
