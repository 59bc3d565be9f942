// JSON with line breaks. Each level of nesting indents all that is in it: a short text may become a very long one.
import { writeJson } from "../api/json";

/** Longer than this it stays on one line. */
const LONGEST = 1_000_000;

export function indented(value: unknown): string {
  const short = writeJson(value ?? null);
  return grownLength(short) > LONGEST ? short : writeJson(value ?? null, 2);
}

/** How long JSON on one line becomes. */
export function grownLength(json: string): number {
  let length = json.length;
  let depth = 0;
  let quoted = false;
  for (let index = 0; index < json.length; index += 1) {
    const sign = json[index];
    if (quoted) {
      if (sign === "\\") index += 1;
      else if (sign === '"') quoted = false;
    } else if (sign === '"') quoted = true;
    else if (sign === "[" || sign === "{") length += 2 * (depth += 1) + 1;
    else if (sign === "]" || sign === "}") length += 2 * (depth -= 1) + 1;
    else if (sign === ",") length += 2 * depth + 1;
    else if (sign === ":") length += 1;
  }
  return length;
}
