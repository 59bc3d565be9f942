import type { Artifact } from "../../api/types";

const ENDINGS = new Map([["markdown", ".md"], ["html", ".html"], ["json", ".json"], ["csv", ".csv"], ["mermaid", ".mmd"]]);

/** The name of the file, as the server gives it. */
export function fileName({ id, content_type: type }: Artifact): string {
  return id.includes(".") ? id : id + (ENDINGS.get(type) ?? ".txt");
}

/** Saves a text as a file. It is plain text to the browser, whatever is in it. */
export function save(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
