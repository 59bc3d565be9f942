// Writes each file of the build once more as .br and as .gz, where that makes it smaller. The server sends them as they are.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const LEAST = 512;
const folder = new URL("../dist", import.meta.url).pathname;
const [brotlied, gzipped] = [promisify(brotliCompress), promisify(gzip)];

const compress = async (path) => {
  const body = readFileSync(path);
  if (body.length < LEAST) return;
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: body.length };
  const made = { ".br": await brotlied(body, { params }), ".gz": await gzipped(body, { level: 9 }) };
  for (const [ending, small] of Object.entries(made)) {
    if (small.length < body.length) writeFileSync(path + ending, small);
  }
};

// All processors work on them.
const names = readdirSync(folder, { recursive: true }).filter((name) => /\.(js|css|html|svg|json|webmanifest)$/.test(name));
await Promise.all(names.map((name) => compress(join(folder, name))));
