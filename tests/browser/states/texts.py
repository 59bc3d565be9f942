"""What is said in the states."""

import json

ASKED = "Our production build takes 94 seconds. Find out why, and write up what we should change."
REPORT = """## Where the time goes

Most of the 94 seconds is **not bundling**. Types are checked before the bundle starts, and every file goes
through Babel although nothing needs it any more.

| Step | Now | Share | After |
|---|---:|---:|---:|
| Type checking | 41.2 s | 44% | 9.8 s |
| Babel | 26.7 s | 28% | – |
| Bundling | 18.3 s | 19% | 6.1 s |

Two changes are enough. Check the types *beside* the bundle, and let Vite do the rest:

```ts
import { defineConfig } from "vite";
import react from "@vitejs/plugin-react";

export default defineConfig({
  plugins: [react()],
  build: { target: "es2022", sourcemap: true }, // Babel is gone
});
```

That leaves about 18 seconds, of which the type check is still the longest part. It can run beside the tests,
and nothing waits for it. Whoever changes only a style sheet sees the page again after less than a second,
because the server of Vite hands out single files and bundles nothing. The cache must be kept between two runs
on the build machine; without it the first build of the day takes as long as before."""
BEFORE = {
    "name": "site",
    "scripts": {"build": "webpack --mode production", "test": "vitest run"},
    "dependencies": {"react": "^19.0.0", "react-dom": "^19.0.0", "zustand": "^5.0.0"},
    "devDependencies": {
        "@babel/core": "^7.26.0",
        "babel-loader": "^9.2.1",
        "ts-loader": "^9.5.1",
        "typescript": "^5.9.0",
        "webpack": "^5.97.0",
    },
}
AFTER = BEFORE | {
    "scripts": {"build": "vite build", "types": "tsc --noEmit --incremental", "test": "vitest run"},
    "devDependencies": {"@vitejs/plugin-react": "^5.0.0", "typescript": "^5.9.0", "vite": "^8.0.0"},
}
PACKAGE, NEW_PACKAGE = (json.dumps(data, indent=2) + "\n" for data in (BEFORE, AFTER))
WEBPACK = 'module.exports = { mode: "production" };\n'
#: The versions of a document, oldest first.
VERSIONS = (
    """# Build speed report

Measured once on an 8-core machine.
A cold build takes about 95 s.

## What to change

1. Move to Vite and drop Babel.
""",
    """# Build speed report

Measured once on an 8-core machine.
A cold build takes about 95 s.

## Where the time goes

| Step | Now |
|---|---:|
| Type checking | 41.2 s |

## What to change

1. Move to Vite and drop Babel.
""",
    """# Build speed report

Measured three times on an 8-core machine; the figures are medians.
A cold build takes 94.1 s, and 72% of that is not bundling but type checking and Babel.

## Where the time goes

| Step | Now | After |
|---|---:|---:|
| Type checking | 41.2 s | 9.8 s |
| Minifying | 7.9 s | 2.2 s |

## What to change

1. Move to Vite and drop Babel.
2. Check types beside the bundle.
3. Keep `node_modules/.vite` between CI runs.
""",
)
CSV = """step,now,share,after
Type checking,41.2 s,44%,9.8 s
Babel,26.7 s,28%,
Bundling,18.3 s,19%,6.1 s
"Minifying, with source maps",7.9 s,9%,2.2 s
"""
MERMAID = """graph LR
  A[Sources] --> B{Types in order?}
  B -- yes --> C[Bundle]
  B -- no --> D[Report]
  C --> E[Deploy]
"""
HTML = """<!doctype html>
<style>body { font: 15px system-ui; padding: 24px } meter { width: 240px }</style>
<h1>Build time</h1>
<p>Type checking <meter value="41" max="94"></meter> 41.2 s</p>
<p>Babel <meter value="27" max="94"></meter> 26.7 s</p>
"""
