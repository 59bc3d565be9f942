// Writes src/api/openapi.json (from the server's code) and src/api/schema.d.ts (from that). Run it with `npm run types`
// after a change of the API.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";

import { generated } from "./schema.mjs";

const python = process.env.PYTHON ?? "../.venv/bin/python";
writeFileSync("src/api/openapi.json", execFileSync(python, ["scripts/openapi.py"], { maxBuffer: 1 << 26 }));
writeFileSync("src/api/schema.d.ts", await generated());
