// Names of languages as people write them, and endings of files.

const OTHERS: Record<string, string> = {
  sh: "bash", shell: "bash", zsh: "bash", console: "bash", shellscript: "bash", h: "c", "c++": "cpp", cc: "cpp", hpp: "cpp", cxx: "cpp",
  cs: "csharp", "c#": "csharp", dockerfile: "docker", golang: "go", gql: "graphql", htm: "html", svg: "xml", cfg: "ini", conf: "ini", env: "ini",
  js: "javascript", mjs: "javascript", cjs: "javascript", node: "javascript", json5: "json", jsonc: "json", jsonl: "json", kt: "kotlin", kts: "kotlin",
  make: "makefile", mk: "makefile", md: "markdown", patch: "diff", ps1: "powershell", pwsh: "powershell", py: "python", python3: "python", pyi: "python",
  rb: "ruby", rs: "rust", sc: "scala", postgresql: "sql", psql: "sql", sqlite: "sql", mysql: "sql", ts: "typescript", mts: "typescript", cts: "typescript", yml: "yaml",
};

/** The name by which a language is loaded. It may be one that nobody knows. */
export function normal(language: string): string {
  const name = language.slice(0, 100).trim().toLowerCase().replace(/^[{.]+|[}]+$/g, "");
  return Object.hasOwn(OTHERS, name) ? (OTHERS[name] ?? name) : name;
}

/** The language of a file by its name, or "". */
export function languageOf(file: string): string {
  const name = file.split("/").at(-1)?.toLowerCase() ?? "";
  if (name === "makefile" || name === "dockerfile") return normal(name);
  const ending = /\.([a-z0-9+#]{1,10})$/.exec(name)?.[1];
  return ending === undefined ? "" : normal(ending);
}
