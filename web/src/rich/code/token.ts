/** A piece of code and the class that colours it: keyword, string, number, name, note. */
export interface Token {
  text: string;
  kind: "" | "k" | "q" | "n" | "f" | "c";
}

/** What the page asks of the worker. */
export type Request = { id: number; language: string; text: string } | { id: number; end: true };

/** What the worker says: the lines from `from` on, or that the language has no colours. */
export type Reply = { id: number; from: number; lines: Token[][] } | { id: number; none: true };
