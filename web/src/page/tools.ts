// What the tools of Caesura are called, and which of their arguments says most.
import { ExactNumber, writeJson } from "../api/json";
import { shownLine } from "../log/shown";
import type { Key } from "../words/words";

const NAMES: Record<string, { words: Key; main: string }> = {
  list_files: { words: "toolList", main: "path" },
  read_file: { words: "toolRead", main: "path" },
  write_file: { words: "toolWrite", main: "path" },
  execute: { words: "toolRun", main: "command" },
  web_search: { words: "toolSearch", main: "query" },
  web_fetch: { words: "toolFetch", main: "url" },
  create_artifact: { words: "toolCreate", main: "id" },
  update_artifact: { words: "toolUpdate", main: "id" },
  rewrite_artifact: { words: "toolArtifactRewrite", main: "id" },
  read_artifact: { words: "toolArtifactRead", main: "id" },
  ask_user: { words: "toolAsk", main: "" },
};

export function toolWords(name: string): Key | null {
  return Object.hasOwn(NAMES, name) ? (NAMES[name]?.words ?? null) : null;
}

/** The argument that says most, on one line: a text, or else a number. */
export function mainArgument(name: string, args: Record<string, unknown>): string {
  const about = Object.hasOwn(NAMES, name) ? (NAMES[name]?.main ?? "") : "";
  const main = about === "path" ? args[pathName(args)] : args[about];
  if (typeof main === "string") return cut(main);
  const values = Object.values(args);
  const text = values.find((item) => typeof item === "string" && item !== "");
  const number = values.find((item) => typeof item === "number" || item instanceof ExactNumber);
  return typeof text === "string" ? cut(text) : number === undefined ? "" : writeJson(number);
}

/** The argument that names a file: a graph of the operator may call it `file_path`. */
export function pathName(args: Record<string, unknown>): string {
  return Object.hasOwn(args, "path") ? "path" : "file_path";
}

const cut = (text: string): string => shownLine(text.length > 300 ? `${text.slice(0, 300)}…` : text);

export { indented as json } from "../log/indented";
