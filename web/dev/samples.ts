// Sample data of the dev page.
import type { Artifact, ArtifactVersion } from "../src/api/types";

const AT = new Date(2026, 10, 3, 14, 2).getTime();
const REPORT = [
  "# Build speed report\n\nMeasured once on an 8-core machine.\n",
  "# Build speed report\n\nMeasured once on an 8-core machine.\nA cold build takes about 95 s.\n\n## Where the time goes\n| Step | Now |\n|---|--:|\n| Type checking | 41.2 s |\n\n## What to change\n1. Move to Vite and drop Babel.\n",
  "# Build speed report\n\nRewritten.\n",
  "# Build speed report\n\nMeasured three times on an 8-core machine; the figures are medians.\nA cold build takes 94.1 s, and 72% of that is not bundling but type checking and Babel.\n\n## Where the time goes\n| Step | Now | After |\n|---|--:|--:|\n| Type checking | 41.2 s | 9.8 s |\n| Minifying | 7.9 s | 2.2 s |\n\n## What to change\n1. Move to Vite and drop Babel: nothing in `src/` needs it since the class properties went.\n2. Check types beside the bundle.\n3. Keep `node_modules/.vite` between CI runs.\n",
];
const HTML = `<style>body{font:16px sans-serif;background:#123;color:#fff}</style><h1>Hello</h1><p id=o>no script</p><script>document.getElementById("o").textContent="script ran"</script>`;
const OTHERS: Record<string, [string, string]> = {
  "page.html": ["html", HTML],
  flow: ["mermaid", "graph TD\n  A[Start] --> B{Ready?}\n  B -->|yes| C[Go]\n  B -->|no| D[Wait]\n"],
  broken: ["mermaid", "graph TD\n  A[[[ --> "],
  "sales.csv": ["csv", "name,units,price\n" + Array.from({ length: 500 }, (_, i) => `item ${i},${i * 3},${(i * 1.5).toFixed(2)}`).join("\n")],
  "data.json": ["json", '{"a":1,"b":[true,null,"x"],"c":{"d":"e"}}'],
  "main.py": ["code", 'import os\n\n\ndef main() -> None:\n    """Says hello."""\n    print(f"hello {os.getcwd()}", 42)  # note\n'],
  note: ["text", "Plain text\n  with spaces.\n"],
};

export const ARTIFACTS: Artifact[] = [
  { id: "build-report", title: "Build speed report", content_type: "markdown", version: 4, created_at: AT, updated_at: AT + 420_000 },
  ...Object.entries(OTHERS).map(([id, [content_type]]) => ({ id, title: id, content_type, version: 1, created_at: AT, updated_at: AT })),
];

export function VERSIONS(id: string): ArtifactVersion[] {
  const kinds = id === "build-report" ? ["create", "update", "rewrite", "update"] : ["create"];
  const minutes = [0, 1, 4, 7];
  return kinds.map((update_type, index) => ({ version: index + 1, update_type, turn_id: null, created_at: AT + (minutes[index] ?? 0) * 60_000 }));
}

export function CONTENTS(id: string, version: number): string {
  return id === "build-report" ? (REPORT[version - 1] ?? "") : (OTHERS[id]?.[1] ?? "");
}

const FILLER = Array.from({ length: 11 }, (_, i) => `    "step${i}": "echo ${i}",`).join("\n");
export const PACKAGE = {
  before: `{\n  "name": "site",\n  "scripts": {\n    "build": "webpack --mode production",\n    "test": "vitest run"\n  },\n${FILLER}\n  "devDependencies": {\n    "@babel/core": "^7.26.0",\n    "babel-loader": "^9.2.1",\n    "webpack": "^5.97.0"\n  }\n}\n`,
  after: `{\n  "name": "site",\n  "scripts": {\n    "build": "vite build",\n    "types": "tsc --noEmit --incremental",\n    "test": "vitest run"\n  },\n${FILLER}\n  "devDependencies": {\n    "@vitejs/plugin-react": "^5.0.0",\n    "vite": "^8.0.0"\n  }\n}\n`,
};

const SECTION = "## Part\n\nSome **bold** words and `code`, then *more* of them with a [link](https://example.com/a) to read on and on until the line is long enough to wrap twice.\n\n- first item of the list\n- second item with `code` in it\n- third item\n\n1. one\n2. two\n\n> A quote that says something.\n\n| Step | Now | After |\n|---|--:|--:|\n| Type checking | 41.2 s | 9.8 s |\n| Bundling | 18.3 s | 6.1 s |\n\n```python\ndef work(n: int) -> int:\n    # a note\n    return n * 2 + len(\"text\")\n```\n\n";
const KINDS: Record<string, string> = {
  mixed: SECTION,
  list: "- an item of one very long list with `code` and **bold** words\n",
  paragraph: "words and more **bold** words and `code` ",
  code: "    value = compute(1, \"two\")  # three\n",
  table: "| one | two | three |\n",
};

/** So many tokens of some four characters. */
export function LONG(kind: string, count: number): string[] {
  const head = kind === "code" ? "```python\n" : kind === "table" ? "| a | b | c |\n|---|---|---|\n" : "";
  const text = head + (KINDS[kind] ?? SECTION).repeat(Math.ceil((count * 5) / (KINDS[kind] ?? SECTION).length));
  return (text.match(/\s*\S{1,5}|\s+$/g) ?? []).slice(0, count);
}
