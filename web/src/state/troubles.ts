// What begins after the first paint: nobody has sent or answered anything before it, and no stream has been silent.
import { followAsking } from "./asking";
import { followHeld } from "./held";
import { followOverdue } from "./overdue";
import { followStoring } from "./storing";

export function followTroubles(): () => void {
  const ends = [followOverdue(), followHeld(), followStoring(), followAsking()];
  return () => ends.forEach((end) => end());
}
