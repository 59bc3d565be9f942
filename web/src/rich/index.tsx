// What a message, a file and a document look like inside. Plain components: everything comes by props.
import "./rich.css";

import { lazy } from "react";

export { Code, type CodeProps } from "./code/Code";
export { languageOf } from "./code/names";
export { Diff, type DiffProps } from "./diff/Diff";
export type { DocumentsProps, LiveDocument } from "./documents/Documents";
export { Markdown, type MarkdownProps, type TextMark } from "./markdown/Markdown";

/** Loaded when the first document is opened. */
export const Documents = lazy(() => import("./documents/Documents").then((found) => ({ default: found.Documents })));
