// A block of code that is still written.

const FENCE = /^( {0,3})(`{3,}|~{3,})([^\n]*)\n([^]*)$/;

/** The code of a fence that is open at the end of the text, else null. */
export function fenced(source: string): { text: string; language: string } | null {
  const [, indent = "", fence = "", info = "", body = ""] = FENCE.exec(source) ?? [];
  if (fence === "" || (fence.startsWith("`") && info.includes("`"))) return null;
  if (new RegExp(`^ {0,3}${fence[0] === "~" ? "~" : "`"}{${fence.length},}[ \\t]*$`, "m").test(body)) return null;
  const text = indent === "" ? body : body.replace(new RegExp(`^ {1,${indent.length}}`, "gm"), "");
  return { text: text.replace(/\r/g, "").replace(/\n$/, ""), language: /^\s*(\S*)/.exec(info)?.[1] ?? "" };
}
