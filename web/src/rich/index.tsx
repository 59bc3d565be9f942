// What a message, a file and a document look like inside. Plain components: everything comes by props.
import "./rich.css";

export { Diff, type DiffProps } from "./diff/Diff";
export { Markdown, type MarkdownProps, type TextMark } from "./markdown/Markdown";
