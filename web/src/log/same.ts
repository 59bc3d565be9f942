import { ExactNumber } from "../api/json";

/** Whether two values of JSON say the same. The order of names does not matter. */
export function sameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (one instanceof ExactNumber || other instanceof ExactNumber) return one instanceof ExactNumber && other instanceof ExactNumber && one.text === other.text;
  const [ours, theirs] = [Object.entries(one), new Map<string, unknown>(Object.entries(other))];
  if (Array.isArray(one) !== Array.isArray(other) || ours.length !== theirs.size) return false;
  return ours.every(([name, value]) => theirs.has(name) && sameJson(value, theirs.get(name)));
}
