// What a person writes into a document: kept in this browser until it is saved as a version.
import * as api from "../api/calls";
import { ApiError } from "../api/client";
import { storeDraft, storedDraft } from "./drafts";
import { loadArtifacts } from "./opening";
import { useThread } from "./thread";

export interface DocumentDraft {
  text: string;
  base: number;
}

/** Dropped with the other drafts when somebody else signs in. */
const nameOf = (conversation: string, document: string) => `document.${conversation}.${document}`;

export function documentDraft(conversation: string, document: string): DocumentDraft | null {
  try {
    const found = JSON.parse(storedDraft(nameOf(conversation, document)) ?? "null") as Partial<DocumentDraft> | null;
    return typeof found?.text === "string" && typeof found.base === "number" ? { text: found.text, base: found.base } : null;
  } catch {
    return null;
  }
}

/** Gives whether a reload finds it again. If not, this page still has it. */
export function keepDocumentDraft(conversation: string, document: string, draft: DocumentDraft | null): boolean {
  return storeDraft(nameOf(conversation, document), draft && JSON.stringify(draft));
}

/** Saves a version. "outdated": another version than `base` is the newest one, and nothing was saved. */
export async function saveDocument(conversation: string, document: string, draft: DocumentDraft): Promise<"saved" | "outdated"> {
  try {
    await api.addVersion(conversation, document, draft.text, draft.base);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "outdated") throw error;
    if (!(await isNewest(conversation, document, draft.text))) {
      await loadArtifacts();
      return "outdated";
    }
  }
  keepDocumentDraft(conversation, document, null);
  tabs?.postMessage(conversation);
  await loadArtifacts();
  return "saved";
}

const tabs = typeof BroadcastChannel === "function" ? new BroadcastChannel("caesura.documents") : undefined;

/** Another tab of this browser has saved a version. The feed does not tell of that. */
export function followDocuments(): void {
  tabs?.addEventListener("message", ({ data }: MessageEvent<string>) => {
    if (data === useThread.getState().id) void loadArtifacts();
  });
}

/** Whether the newest version has just this text: then it was saved before, and the response was lost. */
async function isNewest(conversation: string, document: string, text: string): Promise<boolean> {
  try {
    const { versions } = await api.versions(conversation, document);
    const newest = Math.max(...versions.map((item) => item.version));
    return (await api.version(conversation, document, newest)).content === text;
  } catch {
    return false;
  }
}
