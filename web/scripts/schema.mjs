// The types of the API, as text, from src/api/openapi.json.
import { readFileSync } from "node:fs";

import openapiTS, { astToString } from "openapi-typescript";

export async function generated() {
  const document = JSON.parse(readFileSync("src/api/openapi.json", "utf8"));
  return "// Made by `npm run types`. Do not edit.\n" + astToString(await openapiTS(document, { defaultNonNullable: true }));
}
