// What begins after the first paint: nobody has answered anything before it, and no stream has been silent.
import { followHeld } from "./held";
import { followOverdue } from "./overdue";

export function followTroubles(): () => void {
  const ends = [followOverdue(), followHeld()];
  return () => ends.forEach((end) => end());
}
