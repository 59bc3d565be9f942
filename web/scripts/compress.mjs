// Writes each file of the build once more as .br and as .gz, where that makes it smaller. The server sends them as they are.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const LEAST = 512;
const folder = new URL("../dist", import.meta.url).pathname;

for (const name of readdirSync(folder, { recursive: true })) {
  if (!/\.(js|css|html|svg|json|webmanifest)$/.test(name)) continue;
  const path = join(folder, name);
  const body = readFileSync(path);
  if (body.length < LEAST) continue;
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: body.length };
  for (const [ending, made] of [
    [".br", brotliCompressSync(body, { params })],
    [".gz", gzipSync(body, { level: 9 })],
  ]) {
    if (made.length < body.length) writeFileSync(path + ending, made);
  }
}
